"""The page on calibration has the figures of the data."""

from pathlib import Path

from benchmarks.calibration.evaluate import FOLDER, expected_off, point, read, reserved_without, split

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"
SEVERAL = (
    "2-1.5b-packed-sequence-parallel",
    "2-1.5b-packed-sequence-parallel-mixed",
    "2-3b-lora32",
    "2-3b-lora32-mixed",
    "2-1.5b-gae",
    "2-1.5b-gae-mixed",
    "2-1.5b-gae-offload",
    "2-moe",
    "2-moe-mixed",
    "2-1.5b-packed-dynamic8192",
    "2-1.5b-packed-dynamic16384-mixed",
    "2-1.5b-packed-mixed",
    "2-3b-packed-fsdp2-entropy-mixed",
    "4-7b",
    "4-7b-mixed",
    "2-14b-lora32-table-58",
    "2-14b-lora32-table-83",
)
"""The runs of the page's table, in its order."""


def test_the_page_has_the_figures_of_the_data() -> None:
    page = PAGE.read_text()
    table = page.partition("| expected figure |\n")[2].partition("\n\n")[0].splitlines()[1:]
    found = {line["id"]: line for line in read([FOLDER / "h100-several-gpus-2026-11-27.jsonl"])}
    rows = []
    for run in SEVERAL:
        each = point(found[run])
        share = f"{each.off:+.1%}".replace("%", " %")
        expected = f"{expected_off(found[run]):+.1%} ".replace("% ", " % ") if run.endswith("-mixed") else ""
        rows.append(
            f" {found[run]['gpus']} | {each.peak('allocated'):.2f} | {each.allocated:.2f} | {share} | {expected}|"
        )
    zero = [row.replace("-0.0 %", "0.0 %").replace("+0.0 %", "0.0 %") for row in rows]
    assert [line.partition("|")[2].partition("|")[2] for line in table] == zero


def test_the_page_has_the_worst_of_what_torch_reserves() -> None:
    points, _ = split(read(sorted(FOLDER.glob("*.jsonl"))))
    low = {each.id: 1 - reserved_without(points, each) / each.peak("reserved") for each in points}
    found = [f"{low[name]:.1%}".replace("%", " %") for name in ("4-7b", "4-7b-mixed", "2-1.5b-gae", "2-1.5b-gae-mixed")]
    page = " ".join(PAGE.read_text().split())
    said = f"{found[0]} too low with 7B on four GPUs ({found[1]} with mixed lengths), and {found[2]} and {found[3]} too low with a critic on two"
    assert (found, said in page) == (["12.9 %", "7.9 %", "16.8 %", "17.7 %"], True)
