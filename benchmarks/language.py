"""How often the language of a passage is told right, per language.

    python benchmarks/language.py --data ../shared/data

Passages of XQuAD, JaQuAD and DRCD, each on its own: a document is longer, and easier. Also what
is made of their questions, which are a line each.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from pathlib import Path

from localrag.text.language import detect_language

SETS = {
    **{f"xquad/{language}": language for language in ("ar", "de", "en", "es", "ru", "zh")},
    "jaquad": "ja",
    "drcd": "zh",
}


def texts(path: Path) -> list[str]:
    """Return the field ``text`` of every line of a compressed JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [str(json.loads(line)["text"]) for line in lines]


def main() -> None:
    """Print accuracy, what was said instead, and the time of one text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the evaluation sets")
    data = parser.parse_args().data
    print("| set | language | texts | right | instead | ms per text |")
    print("|---|---|---|---|---|---|")
    for name, language in SETS.items():
        for kind in ("corpus", "queries"):
            samples = texts(data / name / f"{kind}.jsonl.gz")
            started = time.perf_counter()
            said = Counter(detect_language(sample) for sample in samples)
            milliseconds = (time.perf_counter() - started) * 1000 / len(samples)
            share = said.pop(language, 0) / len(samples)
            instead = ", ".join(f"{other}: {count}" for other, count in said.most_common(3))
            print(
                f"| {name} {kind} | {language} | {len(samples)} | {share:.4f} | {instead} "
                f"| {milliseconds:.2f} |"
            )


if __name__ == "__main__":
    main()
