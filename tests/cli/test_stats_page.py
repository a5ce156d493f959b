"""The page of `tfrecord-fast stats --html`: whole, small, safe whatever the records hold, and readable by all."""

import base64
import hashlib
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.browser import accessibility_faults, browsing
from tfrecord_fast.cli import app
from tfrecord_fast.cli.commands.stats import pictures

VOID = {"meta", "input", "img", "br", "line", "rect", "path", "link"}
EVIL = b"<script>alert(1)</script><img src=x onerror=alert(1)>\"'&</style></title>"


class Page(HTMLParser):
    """Tags that are open, and all that there are."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.data = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        self.data.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def write(path, *records):
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(list(records))
    return str(path)


@pytest.fixture
def page(tmp_path):
    """The text of the page of some records, and what it is made of."""

    def make(*records, status=0, second=None, name="records"):
        argv = ["stats", write(tmp_path / name, *records), "--html", str(tmp_path / "page.html")]
        if second is not None:
            argv += ["--against", write(tmp_path / "second", *second)]
        assert app.run(argv) == status
        text = (tmp_path / "page.html").read_text()
        parsed = Page(text)
        assert parsed.open == []
        return text, parsed

    return make


def example(entries):
    return wire.example([(key, wire.feature(*value)) for key, value in entries.items()])


def image(colour, size=(300, 200)):
    pillow = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    pillow.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return [
        example(
            {
                b"label": ("int64", [int(rng.integers(0, 5))]),
                b"x": ("float", [float(rng.normal())]),
                b"word": ("bytes", [[b"a", b"b"][i % 2]]),
                b"list": ("int64", list(range(i % 4))),
            }
        )
        for i in range(n)
    ]


@pytest.mark.parametrize("name", ["in", "other", "link"])
def test_the_page_replaces_no_input(tmp_path, capfd, name):
    for path in (tmp_path / "in", tmp_path / "other"):
        with tf.TFRecordWriter(path) as writer:
            writer.write(b"words")
    (tmp_path / "link").symlink_to("in")
    inside, other, page = (str(tmp_path / one) for one in ("in", "other", name))
    assert app.run(["stats", inside, "--against", other, "--html", page]) == 2
    assert f"{page}: the page would replace an input" in capfd.readouterr().err
    assert [list(tf.data.TFRecordDataset(one)) for one in (inside, other)] == [[b"words"], [b"words"]]


def test_the_page_stands_alone(page):
    text, parsed = page(*rows(100))
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", text)
    assert not parsed.all("link") and not parsed.all("iframe")
    assert all("src" not in script for script in parsed.all("script"))


def test_every_feature_has_a_card_with_a_picture_in_words(page):
    _, parsed = page(*rows(100))
    names = [attrs["data-name"] for attrs in parsed.all("li") if "data-name" in attrs]
    assert names == ["label", "list", "word", "x"]
    labels = [attrs["aria-label"] for attrs in parsed.all("svg")]
    assert all(attrs["role"] == "img" for attrs in parsed.all("svg"))
    assert any(label.startswith("Histogram of label: values from 0 to 4") for label in labels)


def test_frequent_values_have_their_parts_of_both_files(page):
    def words(a, b):
        return [example({b"word": ("bytes", [word])}) for word in [b"a"] * a + [b"b"] * b]

    text, _ = page(*words(7, 3), second=words(1, 19))
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", text.partition("Most frequent")[2].partition("</table>")[0])
    cells = [re.findall(r"(?<=>)[^<>]+(?=<)", row) for row in rows]
    assert cells == [["&quot;a&quot;", "7", "70 %", "5.0 %"], ["&quot;b&quot;", "3", "30 %", "95 %"]]


def test_a_card_has_the_facts_of_its_values(page):
    numbers, words = [0, 0, 0, 1, 3, 4, 5, 11], [b"", b"", b"", b"a", b"bcd", b"bcde", b"fghij", b"k" * 11]
    records = [example({b"n": ("int64", [n]), b"w": ("bytes", [w])}) for n, w in zip(numbers, words, strict=True)]
    text, _ = page(*records)
    found = [dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", card)) for card in text.split("<dl class=")[1:]]
    of_numbers = next(facts for facts in found if "median" in facts)
    assert of_numbers["zeros"] == "38 %" and of_numbers["mean"] == "3" and of_numbers["max"] == "11"
    of_words = next(facts for facts in found if "mean size" in facts)
    assert (
        of_words["empty"] == "38 %" and of_words["largest"].startswith("11") and of_words["mean size"].startswith("3")
    )
    assert of_words["smallest"].startswith("0")


@pytest.mark.parametrize(("words", "shown"), [("aa", 1), ("a", 1), ("ab", 0), ("aabb", 2), ("abcc", 3)])
def test_what_comes_twice_is_frequent(page, words, shown):
    """Or what comes once, if there is no more."""
    text, _ = page(*[example({b"word": ("bytes", [word.encode()])}) for word in words])
    table = text.partition("Most frequent")[2].partition("</table>")[0]
    assert table.count('<th scope="row">') == shown


def test_bars_begin_at_zero(page):
    _, parsed = page(*[example({b"a": ("int64", [v])}) for v in [0, 0, 0, 0, 1, 2, 2]])
    bars = [attrs for attrs in parsed.all("rect") if attrs.get("class") == "a"]
    assert [float(bar["height"]) for bar in bars] == [84.0, 21.0, 42.0]
    assert all(float(bar["y"]) + float(bar["height"]) == 84.0 for bar in bars)


@pytest.mark.parametrize("place", ["key", "value", "name", "list", "raw"])
def test_html_in_records_is_text(page, place):
    key, value, name, records = b"k", b"v", "records", None
    if place == "key":
        key = EVIL
    elif place == "value":
        value = EVIL
    elif place == "name":
        name = EVIL.decode().replace("/", "\\")
    elif place == "list":
        records = [wire.sequence_example([], [(EVIL, [wire.feature("bytes", [EVIL])])])] * 3
    else:
        records = [EVIL] * 3
    _, parsed = page(*(records or [example({key: ("bytes", [value]), b"label": ("int64", [1])})] * 3), name=name)
    assert len(parsed.all("script")) == 1 and not parsed.all("img") and len(parsed.all("style")) == 1
    assert "<script>alert(1)" in "".join(parsed.data) or place == "name"
    assert not [attrs for _, attrs in parsed.tags if any(name.startswith("on") for name in attrs)]


def test_the_policy_lets_only_our_script_run(page):
    text, parsed = page(*rows(3))
    policy = next(attrs["content"] for attrs in parsed.all("meta") if attrs.get("http-equiv"))
    script = re.search(r"<script>(.*)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy


def test_keys_that_are_not_utf8_and_no_name_are_shown(page):
    _, parsed = page(*[example({b"\xff\xfe": ("int64", [1]), b"": ("int64", [2]), b"a\x1b[1m": ("float", [0.5])})] * 2)
    names = {attrs["data-name"] for attrs in parsed.all("li") if "data-name" in attrs}
    assert names == {"\\xff\\xfe", "(no name)", "a\\x1b[1m"}


def test_hostile_numbers_are_drawn(page):
    nan, inf = float("nan"), float("inf")
    floats = [nan, inf, -inf, -0.0, 0.0, 3.4e38, -3.4e38, 1e-45, 1.0]
    ints = [2**63 - 1, -(2**63), 0, -1, 1]
    records = [example({b"f": ("float", [v]), b"i": ("int64", [ints[k % 5]])}) for k, v in enumerate(floats)]
    records += [
        example({b"only nan": ("float", [nan]), b"only inf": ("float", [inf])}),
        example({b"empty": ("float", [])}),
    ]
    _, parsed = page(*records)
    assert {"empty", "f", "i", "only inf", "only nan"} == {a["data-name"] for a in parsed.all("li") if "data-name" in a}
    for rect in parsed.all("rect"):
        assert all(np.isfinite(float(rect[name])) for name in ("x", "y", "width", "height"))


def test_images_are_small_pictures_with_words(page):
    records = [
        example({b"image": ("bytes", [image(c)]), b"label": ("int64", [i])}) for i, c in enumerate(["red", "blue"])
    ]
    _, parsed = page(*records)
    pictures = parsed.all("img")
    assert len(pictures) >= 2 and all(one["src"].startswith("data:image/jpeg;base64,") for one in pictures)
    assert any("label 1" in one["alt"] for one in pictures) and all(one["alt"] for one in pictures)
    pillow = pytest.importorskip("PIL.Image")
    with pillow.open(io.BytesIO(base64.b64decode(pictures[0]["src"].partition(",")[2]))) as shown:
        assert max(shown.size) == 112


def test_damaged_and_huge_images_are_left_out(page):
    huge = image("red", (2, 2)).replace(b"\0\0\0\2\0\0\0\2", b"\0\1\0\0\0\1\0\0", 1)
    _, parsed = page(*[example({b"image": ("bytes", [one])}) for one in (image("red")[:60], huge)])
    assert not parsed.all("img")


def test_without_pillow_the_page_says_how_to_see_images(page, monkeypatch):
    record = example({b"image": ("bytes", [image("red")])})
    monkeypatch.setattr(pictures, "optional_or_none", lambda name: None)
    text, parsed = page(record)
    assert not parsed.all("img") and "tfrecord_fast[image]" in text


def test_ten_thousand_features_are_told_in_three_megabytes(page):
    record = example({b"feature number %05d" % i: ("int64", [i]) for i in range(10_000)})
    text, parsed = page(record, record)
    assert len(text) < 3_000_000 and "more are in the table" in text and "more features are not shown" in text
    assert "10,000" in "".join(parsed.data)


def test_drift_is_a_table_with_the_largest_first(page):
    second = [example({b"label": ("int64", [4]), b"x": ("float", [50.0 + i])}) for i in range(50)]
    text, parsed = page(*rows(100), second=second)
    rows_of = [a for a in parsed.all("td") if "data-v" in a]
    assert 'id="drift"' in text and float(rows_of[0]["data-v"]) == 1.0
    assert [a for a in parsed.all("path") if a.get("class") == "b"]
    assert "Kolmogorov-Smirnov" in text and "Kolmogorov-Smirnov" not in page(*rows(100))[0]


def test_damage_is_on_the_page(tmp_path, capfd):
    path = tmp_path / "a"
    write(path, *rows(10))
    path.write_bytes(path.read_bytes()[:-3])
    assert app.run(["stats", str(path), "--html", str(tmp_path / "p.html")]) == 1
    assert 'id="damage"' in (tmp_path / "p.html").read_text() and "record 9" in capfd.readouterr().err


def test_a_page_that_cannot_be_written_is_told(tmp_path, capfd):
    assert app.run(["stats", write(tmp_path / "a", *rows(2)), "--html", str(tmp_path / "no" / "p.html")]) == 2
    assert "p.html: no folder" in capfd.readouterr().err


def test_tables_have_heads_and_rows_with_scope(page):
    text, parsed = page(*rows(20))
    assert all("scope" in attrs for attrs in parsed.all("th"))
    assert text.count("<h1>") == 1 and parsed.tags[0][1] == {"lang": "en"}
    identifiers = [attrs["id"] for _, attrs in parsed.tags if "id" in attrs]
    assert len(identifiers) == len(set(identifiers))
    links = [attrs["href"][1:] for attrs in parsed.all("a")]
    assert set(links) <= set(identifiers) and links[0] == "main"


@pytest.fixture(scope="module")
def browser():
    with browsing() as started:
        yield started


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_axe_finds_nothing_serious(page, tmp_path, browser, width, scheme):
    page(*rows(60), example({b"image": ("bytes", [image("red")])}), second=rows(30, seed=1)[:29])
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True) as context:
        shown = context.new_page()
        said = []
        shown.on("console", lambda message: said.append(message.text))
        shown.goto((tmp_path / "page.html").as_uri())
        assert shown.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert accessibility_faults(shown) == [] and said == []


def test_features_are_filtered_and_sorted_by_keyboard(page, tmp_path, browser):
    page(*rows(60), example({b"label": ("int64", [1])}))
    with browser.new_context() as context:
        shown = context.new_page()
        shown.goto((tmp_path / "page.html").as_uri())
        shown.keyboard.press("Tab")
        assert shown.evaluate("document.activeElement.className") == "skip"
        shown.locator("#filter").fill("la")
        assert shown.locator(".card:visible h3").all_inner_texts() == ["label"]
        assert shown.locator("#shown").inner_text() == "1 of 4 features shown"
        shown.locator("#filter").fill("")
        shown.locator("#sort").select_option("missing")
        assert shown.locator(".card h3").first.inner_text() == "list"
        shown.get_by_role("button", name="mean").focus()
        shown.keyboard.press("Enter")
        assert shown.locator("th[aria-sort=descending]").inner_text() == "mean"
