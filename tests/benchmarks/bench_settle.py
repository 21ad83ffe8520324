"""Does IOzone's own pause of 2 s change the distribution of throughputs? Runs docs/settle-time.yaml; about 5 minutes.

    .venv/bin/python tests/benchmarks/bench_settle.py

Prints, for each configuration, the median with either pause, their ratio, the two-sample Kolmogorov-Smirnov and
Mann-Whitney tests, and Holm's correction over all configurations.
"""

from __future__ import annotations

import csv
import io
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import ks_2samp, mannwhitneyu

from orchestrator.client import Client
from orchestrator.embedded.home import discard
from orchestrator.embedded.service import Service

STUDY = Path(__file__).parents[2] / "docs/settle-time.yaml"


def measured() -> dict[tuple[str, str], dict[str, list[float]]]:
    """(file size, mode) -> settle time -> throughputs in kB/s."""
    home = Path(tempfile.mkdtemp(prefix="ms-", dir="/var/tmp"))
    with Service(home) as service, Client(service.address, service.token) as client:
        campaign = client.submit(STUDY.read_text())[0].id
        while client.campaign(campaign).state == "running":
            time.sleep(1.0)
        rows = list(csv.DictReader(io.StringIO(b"".join(client.export(campaign)).decode())))
    discard(home)
    samples: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["valid"] == "valid":
            samples[row["file_size_kb"], row["mode"]][row["settle_s"]].append(float(row["throughput_kbps"]))
    return samples


def holm(p_values: list[float]) -> list[float]:
    """Holm (1979): step-down correction."""
    order = np.argsort(p_values)
    scaled = np.maximum.accumulate([(len(order) - rank) * p_values[at] for rank, at in enumerate(order)])
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(scaled, 1.0)
    return [float(value) for value in corrected]


def main() -> None:
    """Measure, and print a table."""
    samples = measured()
    tests = [(ks_2samp(by["0"], by["2"]).pvalue, mannwhitneyu(by["0"], by["2"]).pvalue) for by in samples.values()]
    corrected = holm([float(ks) for ks, _ in tests])
    columns = ("file size kB", "mode", "runs", "median 0 s", "median 2 s", "ratio", "KS p", "MW p", "KS p, Holm")
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for ((size, mode), by), (ks, mw), holmed in zip(samples.items(), tests, corrected, strict=True):
        zero, two = float(np.median(by["0"])), float(np.median(by["2"]))
        cells = [size, mode, f"{len(by['0'])} + {len(by['2'])}", f"{zero:,.0f}", f"{two:,.0f}", f"{zero / two:.2f}"]
        print("| " + " | ".join([*cells, *(f"{p:.2g}" for p in (ks, mw, holmed))]) + " |")


if __name__ == "__main__":
    main()
