"""Prints what is linked into a wheel, as a software bill of materials (CycloneDX 1.6): python .ci/sbom.py CORE

The libraries are those of codecs.tsv, with the licences in licenses/README.md. CORE is tfrecord_fast/_core.….so, which
has the version of pybind11. The document has neither a date nor a serial number: two builds of a release have the same.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TAG = re.compile(r"https://github\.com/([^/]+/[^/]+)/(?:archive/refs/tags|releases/download)/(.+?)(?:\.tar\.gz|/.*)")


def component(name, version, licence, purl):
    names = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    return {**names, "licenses": [{"expression": licence}]}


rows = re.findall(r"(?m)^\|[^|]+\| ([^|]+) \| `(.+?)\.txt`", (ROOT / "licenses/README.md").read_text())
licences = {library: licence for licence, library in rows}
components = []
for line in (ROOT / ".ci/codecs.tsv").read_text().splitlines():
    name, _, fields = line.partition("\t")
    if name not in licences or fields.endswith("\t-"):  # a comment, NASM, or a release as Debian packs it
        continue
    version, sha256, url = fields.split("\t")
    repository, tag = TAG.fullmatch(url).groups()
    source = {"type": "source-distribution", "url": url, "hashes": [{"alg": "SHA-256", "content": sha256}]}
    library = component(name, version, licences[name], f"pkg:github/{repository}@{tag}")
    components.append({**library, "externalReferences": [source]})

match = re.search(rb", pybind11 ([\d.]+)\0", Path(sys.argv[1]).read_bytes())
if match is None:
    sys.exit(f"{sys.argv[1]} lacks the version of pybind11, which csrc/bindings/build_info.cc writes into it")
version = match[1].decode()
components.append(component("pybind11", version, licences["pybind11"], f"pkg:pypi/pybind11@{version}"))

version = re.search('__version__ = "(.+)"', (ROOT / "tfrecord_fast/base/version.py").read_text())[1]
package = component("tfrecord_fast", version, "Apache-2.0", f"pkg:pypi/tfrecord-fast@{version}")
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "version": 1,
    "metadata": {"component": package},
    "components": components,
    "dependencies": [{"ref": package["bom-ref"], "dependsOn": [library["bom-ref"] for library in components]}],
}
print(json.dumps(document, indent=2))
