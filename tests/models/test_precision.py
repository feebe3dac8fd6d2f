"""The same numbers on every processor, in float32 and in int8."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.models import arithmetic
from tertium.models.catalog import DEFAULT_MODEL, find
from tertium.models.engine_file import (
    KINDS,
    LIMIT,
    EngineFile,
    quantize,
    quantize_file,
    read_engine_file,
    rescaled,
)
from tertium.models.golden import INT8, read_golden
from tertium.models.translation.ctranslate2 import CTranslate2Model

from ..conftest import Converted

INSTRUCTION_SETS = {
    "AVX2": {"avx2"},
    "AVX512_CORE": {"avx512f", "avx512bw", "avx512vl", "avx512dq"},
    "": {"avx2"},  # whatever the processor has
}
"""Values of ONEDNN_MAX_CPU_ISA, and what /proc/cpuinfo must list for them to have an effect."""
FLOAT32, INT8_TOLERANCE = 1e-5, 1e-4
RUN = """
import json, sys
from tertium import load_model
from tertium.models.catalog import find
from tertium.models.golden import golden_scores, read_golden
model = load_model("tertium-mini", compute_type=sys.argv[1], cache=False)
scores = golden_scores(model, read_golden(find("tertium-mini").path))
numbers = [number for one in scores for number in one.log_probs]
print(json.dumps([model.settings["precision"], numbers]))
"""


def processor_flags() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        pytest.skip("cannot tell what the processor has: there is no /proc/cpuinfo")
    return {flag for line in lines if line.startswith("flags") for flag in line.split()[2:]}


@cache
def golden_run(compute_type: str, instruction_set: str, native: str = "0") -> tuple[str, Any]:
    """Score the golden sentences in a process of its own, under a limit for oneDNN."""
    environment = {**os.environ, arithmetic.NATIVE_VARIABLE: native, "PYTHONWARNINGS": "error"}
    environment.pop(arithmetic.ONEDNN_VARIABLE, None)
    if instruction_set:
        environment[arithmetic.ONEDNN_VARIABLE] = instruction_set
    done = subprocess.run(
        [sys.executable, "-c", RUN, compute_type],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    precision, numbers = json.loads(done.stdout)
    return precision, np.array(numbers)


def expected(compute_type: str) -> Any:
    golden = read_golden(find(DEFAULT_MODEL).path)
    return np.array([number for one in golden for number in getattr(one, compute_type)])


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize("compute_type", ["float32", "int8"])
def test_golden_numbers_under_every_instruction_set(
    compute_type: str, instruction_set: str
) -> None:
    if missing := INSTRUCTION_SETS[instruction_set] - processor_flags():
        pytest.skip(f"NOT TESTED under {instruction_set}: the processor lacks {sorted(missing)}")
    precision, numbers = golden_run(compute_type, instruction_set)
    tolerance = FLOAT32 if compute_type == "float32" else INT8_TOLERANCE
    assert precision == ("float32" if compute_type == "float32" else INT8)
    assert np.abs(numbers - expected(compute_type)).max() <= tolerance
    _, widest = golden_run(compute_type, "")
    assert np.abs(numbers - widest).max() <= tolerance
    if compute_type == "int8":
        assert np.array_equal(numbers, widest)


def test_native_int8_says_so_and_does_not_need_vnni() -> None:
    if missing := INSTRUCTION_SETS["AVX512_CORE"] - processor_flags():
        pytest.skip(f"NOT TESTED: native int8 is int8-avx2, as the processor lacks {missing}")
    precision, numbers = golden_run("int8", "", native="1")
    assert precision == "int8-avx512"
    without_vnni = golden_run("int8", "AVX512_CORE", native="1")
    assert without_vnni[0] == precision
    assert np.array_equal(without_vnni[1], numbers)


def test_int8_after_float32_is_not_passed_off_as_the_same() -> None:
    """The instruction set is chosen once in a process; the signature says which it was."""
    if missing := INSTRUCTION_SETS["AVX512_CORE"] - processor_flags():
        pytest.skip(f"NOT TESTED: there is one instruction set, as the processor lacks {missing}")
    code = (
        "import tertium, warnings\n"
        "warnings.simplefilter('error')\n"
        "model = tertium.load_model(cache=False)\n"
        "model.log_probs([tertium.models.base.Query('a', 'a', 'en')])\n"
        "try:\n"
        "    tertium.load_model(compute_type='int8', cache=False)\n"
        "except tertium.errors.PrecisionWarning as warning:\n"
        "    print(warning)\n"
    )
    environment = {**os.environ}
    environment.pop(arithmetic.ONEDNN_VARIABLE, None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "(signature: int8-avx512)" in done.stdout


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in (None, "ALL"):
        if before is None:
            monkeypatch.delenv(arithmetic.ONEDNN_VARIABLE, raising=False)
        else:
            monkeypatch.setenv(arithmetic.ONEDNN_VARIABLE, before)
        with arithmetic._fixed_instruction_set():
            assert os.environ[arithmetic.ONEDNN_VARIABLE] == arithmetic.INSTRUCTION_SET
        assert os.environ.get(arithmetic.ONEDNN_VARIABLE) == before
    monkeypatch.setenv(arithmetic.ONEDNN_VARIABLE, "AVX2")
    with arithmetic._fixed_instruction_set():
        assert os.environ[arithmetic.ONEDNN_VARIABLE] == "AVX2"


def test_saturation_is_found() -> None:
    """8-bit weights overflow 16 bits without VNNI (2 x 255 x 127 > 32 767); 7-bit ones never."""
    code = (
        "import tertium.models\n"
        "from tertium.models.arithmetic import saturates\n"
        "print([saturates(weight) for weight in (1, 63, 65, 127)])\n"
    )
    environment = {**os.environ, arithmetic.ONEDNN_VARIABLE: "AVX2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[False, False, True, True]"
    assert not arithmetic.saturates(LIMIT)


def weights(engine_file: EngineFile) -> dict[str, Any]:
    """The weights of a model as float32, with their scales applied."""
    found = {}
    with engine_file.path.open("rb") as stream:
        for name in engine_file._weights():
            numbers = engine_file.numbers(stream, name)
            if numbers.dtype == np.int8:
                numbers = numbers / engine_file.numbers(stream, name + "_scale")[:, None]
            found[name] = numbers
    return found


@pytest.mark.parametrize("name", ["prism", "m2m100", "marian"])
def test_seven_bits_change_nothing_but_the_weights(
    name: str, family: Callable[[str], Converted], tmp_path: Path
) -> None:
    shutil.copytree(family(name).folder.path, tmp_path / "copy")
    file = tmp_path / "copy" / "model.bin"
    before = read_engine_file(file)
    original = weights(before)
    assert not before.has_seven_bit_weights()
    others = {
        variable: file.read_bytes()[each.start : each.start + each.size]
        for variable, each in before.variables.items()
        if variable not in original and not variable.endswith("weight")
    }
    quantize_file(file)
    after = read_engine_file(file)
    assert after.has_seven_bit_weights()
    assert after.aliases == before.aliases
    assert (after.specification, after.revision) == (before.specification, before.revision)
    for variable, content in others.items():
        each = after.variables[variable]
        assert file.read_bytes()[each.start : each.start + each.size] == content
    for variable, numbers in weights(after).items():
        largest = np.abs(original[variable]).max(axis=1, keepdims=True)
        assert (np.abs(numbers - original[variable]) <= largest / LIMIT * 0.51).all()
    assert {*weights(after)} == {*original}
    content = file.read_bytes()
    quantize_file(file)
    assert file.read_bytes() == content


def test_eight_bit_weights_come_down_to_seven() -> None:
    numbers = np.arange(-128, 128, dtype=np.int16).astype(np.int8).reshape(2, 128)
    made, scale = rescaled(numbers, np.array([128, 127], np.float32))
    assert np.abs(made.astype(int)).max() == LIMIT
    exact = numbers / np.array([[128], [127]])
    assert np.abs(made / scale[:, None] - exact).max() <= 0.5 / LIMIT + 1e-6
    again, same = rescaled(made, scale)
    assert np.array_equal(again, made)
    assert np.array_equal(same, scale)


def test_quantized_rows_use_the_whole_range() -> None:
    numbers = np.random.default_rng(3).normal(size=(50, 64)).astype(np.float32)
    made, scale = quantize(numbers)
    assert set(np.abs(made.astype(int)).max(axis=1)) == {LIMIT}
    assert np.abs(made / scale[:, None] - numbers).max() <= (0.5 / scale).max() * 1.001


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_weights_saved_in_half_precision(kind: str, tiny_prism: Converted, tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    shutil.copyfile(tiny_prism.folder.path / "model.bin", file)
    before = read_engine_file(file)
    original = weights(before)
    content, made, position = file.read_bytes(), b"", 0
    for name in sorted(original, key=lambda name: before.variables[name].start):
        start = before.variables[name].start
        numbers = original[name]
        halved = (
            numbers.astype(np.float16)
            if kind == "float16"
            else (numbers.view(np.uint32) >> 16).astype(np.uint16)
        ).tobytes()
        head = content[position : start + before.variables[name].description - 5]
        made += head + bytes([KINDS.index(kind)]) + len(halved).to_bytes(4, "little") + halved
        position = start + before.variables[name].size
    file.write_bytes(made + content[position:])
    quantize_file(file)
    after = read_engine_file(file)
    assert after.has_seven_bit_weights()
    for name, numbers in weights(after).items():
        largest = np.abs(original[name]).max(axis=1, keepdims=True)
        assert (np.abs(numbers - original[name]) <= largest * (0.5 / LIMIT + 2**-7)).all()


def test_loading_a_model_for_int8_leaves_its_files_alone(tiny_prism: Converted) -> None:
    before = {file.name: file.read_bytes() for file in tiny_prism.folder.path.iterdir()}
    model = CTranslate2Model(tiny_prism.folder, compute_type="int8")
    assert model.settings["precision"].startswith("int8-")
    assert {file.name: file.read_bytes() for file in tiny_prism.folder.path.iterdir()} == before
