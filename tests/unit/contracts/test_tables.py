"""Samples from CSV: wide and long, and one line for every mistake."""

import gzip

import pytest

from orchestrator.contracts.errors import TableError
from orchestrator.contracts.tables import read_table


@pytest.fixture
def write(tmp_path):
    def writer(text, name="runs.csv"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return writer


def read(path, labels=None):
    table = read_table(path, labels)
    return table.label_names, [(sample.labels, list(sample.values)) for sample in table.samples]


@pytest.mark.parametrize("stem", ["t", "throughput "])
@pytest.mark.parametrize("name", ["runs.csv", "runs.csv.gz"])
def test_wide_one_configuration_a_row(write, stem, name):
    path = write(f"freq,mode,{stem}1,{stem}2,{stem}3\n1200,read,1.5,2,3\n2400,write,4,,5\n", name)
    assert read(path) == (("freq", "mode"), [(("1200", "read"), [1.5, 2, 3]), (("2400", "write"), [4, 5])])


def test_wide_block_is_the_trailing_run_of_consecutive_numbers(write):
    names, samples = read(write("fsize,t1,rsize,t2,t3\n4,7,8,1,2\n"))
    assert names == ("fsize", "t1", "rsize")
    assert samples == [(("4", "7", "8"), [1, 2])]


def test_long_one_run_a_row(write):
    path = write(
        ",host,Mode,iter,throughput,runtime\n0,m1,read,1,5,20\n1,m2,read,1,6,20\n2,m1,read,2,7,20\n3,m2,read,2,8,1\n"
    )
    assert read(path) == (("host", "Mode"), [(("m1", "read"), [5, 7]), (("m2", "read"), [6, 8])])


def test_a_single_list_of_throughputs_is_one_configuration(write):
    assert read(write("throughput\n1\n2\n3\n")) == ((), [((), [1, 2, 3])])


def test_labels_are_kept_as_text(write):
    _, samples = read(write("freq,throughput\n0012,1\n0012,2\n12.0,3\n12.0,4\n"))
    assert [labels for labels, _ in samples] == [("0012",), ("12.0",)]


def test_labels_can_be_named(write):
    path = write("host,job,throughput\nm1,1,5\nm1,2,6\nm2,3,7\nm2,4,8\n")
    assert read(path, ["host"]) == (("host",), [(("m1",), [5, 6]), (("m2",), [7, 8])])


def test_the_column_of_values_can_be_named(write):
    path = write("mode,runtime_s,t1,t2\nhpl,5,0,0\nhpl,6,0,0\n")
    table = read_table(path, ["mode"], value="runtime_s")
    assert [(sample.labels, list(sample.values)) for sample in table.samples] == [(("hpl",), [5, 6])]
    with pytest.raises(TableError, match="no column is named 'runtime'"):
        read_table(path, value="runtime")


def test_groups_of_one_propose_labels_that_group(write):
    rows = "\n".join(f"m{i % 2},{i},{i + 0.5}" for i in range(40))
    with pytest.raises(TableError, match=r"--labels host$"):
        read(write(f"host,cycles,throughput\n{rows}\n"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("freq,t1,t2\n", "no values"),
        ("freq,t1,t2\n1,2,x\n", r"row 2, column 't2': 'x' is not a finite number"),
        ("freq,t1,t2\n1,2,3\n1,nan,3\n", r"row 3, column 't1': 'nan'"),
        ("freq,t1,t2\n1,1_0,3\n", r"column 't1': '1_0'"),
        ("freq,t1,t2\n1,2\n", "row 2: ends before column 't2'"),
        ("freq,t1,t2\n1,2,3,4\n", "row 2: 4 columns, but the header ends at 't2'"),
        ("freq,freq,t1,t2\n", "two columns are named 'freq'"),
        ("freq,value\n1,2\n", "neither a column 'throughput'"),
        ('freq,t1,t2\n1,"2,3\n', "row 2"),
    ],
)
def test_a_malformed_file_is_told_in_one_line(write, text, reason):
    path = write(text)
    with pytest.raises(TableError, match=reason) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_labels_that_are_not_there_are_named(write):
    path = write("host,throughput\nm1,5\nm1,6\n")
    with pytest.raises(TableError, match="no column is named 'node'; columns are host, throughput"):
        read(path, ["node"])
    with pytest.raises(TableError, match="holds values"):
        read(path, ["throughput"])


def test_files_that_cannot_be_read_are_errors_of_the_user(tmp_path):
    with pytest.raises(TableError, match="cannot be read: No such file"):
        read(tmp_path / "absent.csv")
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(gzip.compress(b"throughput\n1\n2\n")[:-9])
    with pytest.raises(TableError, match="cannot be read"):
        read(broken)
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"t1,t2\n\xff\xfe,1\n")
    with pytest.raises(TableError, match="UTF-8"):
        read(binary)
