"""The page of `tfrecord-fast view` in a real browser: what is seen, keys, copying, and that records run no script."""

import io
import wave

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.browser import accessibility_faults, browsing
from tests.support.viewer import viewing

WIDTHS = (390, 820, 1440)
IMAGE = "bytes?file=0&record=0&place=4.0"  # of the first record
EVIL = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def png(width=28, height=14):
    made = io.BytesIO()
    pytest.importorskip("PIL.Image").new("RGB", (width, height), (200, 30, 30)).save(made, "PNG")
    return made.getvalue()


def wav():
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(16_000))
    return made.getvalue()


def records(count):
    for i in range(count):
        yield example(
            label=("int64", [i]),
            image=("bytes", [png()]),
            sound=("bytes", [wav()]),
            broken=("bytes", [b"\x89PNG\r\n\x1a\nnothing"]),
            text=("bytes", [f"record {i}\nzwölf".encode()]),
            raw=("bytes", [b"\xff\xfe"]),
            ids=("int64", range(3000)),
            evil=("bytes", [EVIL.encode()]),
            **{EVIL: ("float", [0.5])},
        )


@pytest.fixture(scope="module")
def browser():
    with browsing() as made:
        yield made


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    with tf.io.TFRecordWriter(folder / "a.tfrecord") as writer:
        writer.write_batch([*records(50)])
    with tf.io.TFRecordWriter(folder / "b.tfrecord.gz", "GZIP") as writer:
        for i in range(20):
            steps = [(b"t", [wire.feature("int64", [i]), wire.feature("bytes", [b"x"])])]
            writer.write(wire.sequence_example([(b"label", wire.feature("int64", [100 + i]))], steps))
    with tf.io.TFRecordWriter(folder / "c.tfrecord") as writer:
        writer.write_batch([example(label=("int64", [i])) for i in range(200, 210)])
    data = bytearray((folder / "c.tfrecord").read_bytes())
    data[len(data) // 10 * 3] ^= 1
    (folder / "c.tfrecord").write_bytes(data)
    with viewing(*sorted(folder.iterdir())) as made:
        yield made


@pytest.fixture
def open_page(browser, viewer):
    """Opens a page at an address; gives it when a record is there. What the browser complains about fails the test."""
    contexts, complaints = [], []

    def opened(query="?file=0&record=0", url=None, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto((url or viewer.url) + query)
        page.wait_for_selector("#tree .item")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def at(page, number, label=None):
    """Waits until a record is shown."""
    page.wait_for_function("n => document.querySelector('#title').textContent === `Record ${n}`", arg=f"{number:,}")
    if label is not None:
        page.wait_for_function(
            "n => [...document.querySelectorAll('.numbers')].some(one => one.textContent === n)", arg=str(label)
        )


def status(page, text):
    page.wait_for_function("t => document.querySelector('#status').textContent.includes(t)", arg=text)


def feature(page, name):
    return page.locator("li", has=page.get_by_role("heading", name=name, exact=True)).last


def test_a_record_is_seen(open_page):
    page = open_page("?file=0&record=7")
    at(page, 7, 7)
    assert "Example" in page.text_content("#about") and page.title() == "Record 7 – " + page.title()[11:]
    assert feature(page, "text").locator(".text").inner_text() == "record 7\nzwölf"
    assert "2 bytes" in feature(page, "raw").inner_text()


def test_images_are_shown_enlarged_if_small_and_broken_ones_are_told(open_page):
    page = open_page()
    image = feature(page, "image").locator("img")
    page.wait_for_function("() => document.querySelector('figure:not(.broken) img').naturalWidth === 28")
    assert image.bounding_box()["width"] > 100
    assert image.get_attribute("alt") == "PNG image, 28×14"
    broken = feature(page, "broken")
    broken.scroll_into_view_if_needed()
    broken.get_by_text("can't show it").wait_for()


def test_sound_can_be_played(open_page):
    page = open_page()
    feature(page, "sound").scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('audio').duration === 1")


def test_keys_lead_through_records_and_files(open_page):
    page = open_page("?file=0&record=48")
    for key, number, label in (
        ("j", 49, 49),
        ("ArrowRight", 0, 100),
        ("j", 1, 101),
        ("k", 0, 100),
        ("ArrowLeft", 49, 49),
        ("Home", 0, 0),
        ("End", 49, 49),
    ):
        page.keyboard.press(key)
        at(page, number, label)
    assert page.url.endswith("?file=0&record=49")


def test_the_last_record_of_a_compressed_file_is_reached(open_page):
    page = open_page("?file=1&record=0")
    page.keyboard.press("End")
    at(page, 19, 119)
    page.keyboard.press("j")
    at(page, 0, 200)
    page.keyboard.press("End")
    at(page, 8, 209)
    page.keyboard.press("j")
    status(page, "This is the last record.")


def test_a_condition_on_a_name_that_no_record_has_is_told(open_page):
    page = open_page()
    page.fill("#where", "lable == 3")
    page.press("#where", "Enter")
    status(page, "No record fits: no feature 'lable' in the ")
    status(page, " records read (did you mean 'label'?)")


def test_keys_are_letters_in_a_field(open_page):
    page = open_page()
    page.keyboard.press("/")
    page.keyboard.type("jjk")
    assert page.input_value("#where") == "jjk" and page.text_content("#title") == "Record 0"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    at(page, 1)


def test_a_number_leads_to_its_record(open_page):
    page = open_page()
    page.keyboard.press("g")
    page.keyboard.type("33")
    page.keyboard.press("Enter")
    at(page, 33, 33)
    page.fill("#number", "1e5")
    page.press("#number", "Enter")
    page.get_by_role("alert").get_by_text("is not a number").wait_for()
    page.fill("#number", "5000")
    page.press("#number", "Enter")
    page.get_by_role("alert").get_by_text("fewer records").wait_for()


def test_an_address_leads_to_its_record_and_back_again(open_page):
    page = open_page("?file=2&record=4")
    at(page, 4, 205)
    page.select_option("#file", "0")
    at(page, 0, 0)
    page.go_back()
    at(page, 4, 205)


def test_records_that_fit_are_found(open_page):
    page = open_page()
    page.fill("#where", "label == 3 or label == 17 or label == 107")
    page.press("#where", "Enter")
    at(page, 3, 3)
    page.click("#next")
    at(page, 17, 17)
    page.click("#next")
    at(page, 7, 107)
    page.click("#next")
    status(page, "No later record fits.")
    page.click("#previous")
    at(page, 17, 17)
    assert "where=label" in page.url
    page.reload()
    at(page, 17, 17)
    assert page.input_value("#where").startswith("label == 3")
    page.fill("#where", "label == 1")
    page.press("#where", "Enter")
    at(page, 1, 1)
    status(page, "from the start again")
    page.fill("#where", "label == 999")
    page.press("#where", "Enter")
    status(page, "No record fits.")
    page.fill("#where", "label ==")
    page.press("#where", "Enter")
    page.get_by_role("alert").get_by_text("the end").wait_for()
    page.click("#clear")
    page.wait_for_url(lambda url: "where" not in url)  # record 1 is shown before the click, too
    at(page, 1, 1)


def test_a_long_list_is_shown_in_full_when_asked(open_page):
    page = open_page()
    ids = feature(page, "ids")
    while ids.get_by_role("button").count():
        ids.get_by_role("button").click()
        ids.locator("button:disabled").wait_for(state="detached")  # it is disabled while values are fetched
    assert ids.locator(".numbers").inner_text() == ", ".join(map(str, range(3000)))


def test_all_of_a_long_list_opens_as_text(open_page):
    page = open_page()
    with page.expect_popup() as popup:
        feature(page, "ids").get_by_role("link", name="All as text").click()
    assert popup.value.inner_text("body").split() == [str(one) for one in range(3000)]


def test_code_is_copied(open_page, viewer):
    page = open_page(record := "?file=1&record=2", permissions=["clipboard-read", "clipboard-write"])
    page.keyboard.press("c")
    status(page, "Copied the record as code.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "tf.train.sequence_example(" in copied and "102" in copied
    page.click("#link")
    status(page, "Copied the link.")
    assert page.evaluate("navigator.clipboard.readText()") == viewer.url + record


def test_code_is_shown_where_copying_is_not_allowed(open_page):
    page = open_page("?file=2&record=1")
    page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error()); 0")
    page.click("#code")
    page.get_by_role("dialog").wait_for()
    assert "tf.train.example({'label': 201})" in page.input_value("#copy-text")
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()


def test_bytes_are_saved(open_page):
    page = open_page("?file=2&record=1")
    with page.expect_download() as download:
        page.click("#raw")
    assert download.value.suggested_filename == "record-1.bin"
    with open(download.value.path(), "rb") as file:
        assert file.read() == example(label=("int64", [201]))


def test_damage_is_said(open_page):
    page = open_page("?file=2&record=1")
    notes = page.locator("#notes")
    assert "1 place of this file is damaged" in notes.inner_text() and "CRC of its length" in notes.inner_text()


def test_records_run_no_script_and_fetch_nothing(open_page, viewer):
    fetched = []
    page = open_page("?file=0&record=0")
    page.on("request", lambda request: fetched.append(request.url))
    page.keyboard.press("j")
    at(page, 1)
    page.wait_for_timeout(300)
    assert feature(page, "evil").locator(".text").inner_text() == EVIL
    assert page.get_by_role("heading", name=EVIL, exact=True).count() == 1
    assert page.title().startswith("Record 1")
    assert page.locator("#tree script, #tree img[src=x]").count() == 0
    assert fetched and all(one.startswith(viewer.url) for one in fetched)


def test_the_page_forbids_scripts_that_are_not_its_own(browser, viewer):
    page = browser.new_page()
    page.goto(viewer.url)
    status(page, "Record 0")
    for script in (
        "s.textContent = 'document.title = 1'",
        "s.src = 'data:,document.title = 1'",
        f"s.src = '{viewer.url}text'",
    ):
        page.evaluate(f"{{ const s = document.createElement('script'); {script}; document.body.append(s) }}; 0")
    page.wait_for_timeout(200)
    assert page.title().startswith("Record 0")
    page.close()


@pytest.mark.parametrize("content", [EVIL, "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"])
def test_bytes_that_are_a_page_are_none_here(browser, tmp_path, content):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write(content.encode())
    with viewing(tmp_path / "a") as viewer:
        viewer.ask("api/record")
        page = browser.new_page()
        dialogs = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog), dialog.dismiss()))
        with page.expect_download():
            page.evaluate("url => { location = url }", viewer.url + "bytes")
        page.goto(viewer.url + "text")
        assert content in page.inner_text("body") and not dialogs
        page.close()


def test_another_page_gets_nothing_from_it(browser, viewer):
    """A page of another site neither reads answers nor shows the page in a frame, though it knows the address."""
    page = browser.new_page()
    page.route("http://evil.test/*", lambda route: route.fulfill(body="<h1>evil</h1>", content_type="text/html"))
    page.goto("http://evil.test/")
    read = "url => fetch(url).then(one => one.text(), error => 'refused')"
    assert page.evaluate(read, f"{viewer.url}api/files") == "refused"
    assert viewer.send(f"/{viewer.token}/{IMAGE}").headers["Content-Type"] == "image/png"
    page.evaluate("url => { const one = new Image(); one.src = url; document.body.append(one) }", viewer.url + IMAGE)
    page.wait_for_function("document.images[0].complete")
    assert page.evaluate("document.images[0].naturalWidth") == 0
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_and_is_accessible(open_page, width, scheme):
    page = open_page("?file=2&record=1", viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.fill("#number", "99")
    page.press("#number", "Enter")
    page.get_by_role("alert").get_by_text("fewer").wait_for()
    assert accessibility_faults(page) == []
    for record in (3, 4):
        page.goto(page.url.partition("?")[0] + f"?file={record % 3}&record={record}")
        page.wait_for_selector("#tree .item")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("query", ["?file=0&record=3", "?file=1&record=3"])
def test_records_of_all_kinds_are_accessible(open_page, query):
    assert accessibility_faults(open_page(query)) == []


def test_everything_is_reached_by_the_tab_key(open_page):
    page = open_page()
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    assert {"file", "next", "number", "where", "code", "link", "raw", "All as text"} <= reached


def test_a_record_is_announced(open_page):
    page = open_page()
    page.keyboard.press("j")
    status(page, "Record 1 of 0–49")
    assert page.get_attribute("#status", "role") == "status"


def test_a_server_that_is_gone_is_told(browser, tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch([b"x", b"y"])
    with viewing(tmp_path / "a") as viewer:
        page = browser.new_page()
        page.goto(viewer.url)
        page.wait_for_selector("#tree .item")
    page.keyboard.press("j")
    page.get_by_role("alert").get_by_text("has been stopped").wait_for()
    page.close()
