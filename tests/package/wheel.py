"""What the wheel is declared to be: its version, what it needs, its programs; and that these start as themselves. Each check is tried on
declarations with a fault planted in them, too.

    wheel.py SOURCE
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

SOURCE = pathlib.Path(sys.argv[1])
DECLARED = ["CMakeLists.txt", "pyproject.toml", "apps/protocom/CMakeLists.txt", "python/wheel.cmake", "python/start_program.py", "python/protocom/__init__.py",
            "python/protocom/__main__.py", "scripts/wheel"]


def faults(root):
    text = {name: (root / name).read_text() for name in DECLARED}
    project = tomllib.loads(text["pyproject.toml"])
    declared, built = project["project"], project["tool"]["scikit-build"]
    found = []

    def expect(holds, fault):
        if not holds:
            found.append(fault)

    version = re.search(built["metadata"]["version"]["regex"], text["CMakeLists.txt"])
    expect(version and "version" in declared["dynamic"] and "version" not in declared, "the version is not that of CMakeLists.txt")
    expect(version and not any(version["value"] in text[name] for name in DECLARED if name != "CMakeLists.txt"), "the version is stated twice")
    expect(declared["dependencies"] == ["numpy"], "the package needs more than NumPy")
    expect(any(re.match(r"onnxruntime>=", need) for need in declared["optional-dependencies"]["photos"]), "protocom[photos] brings no onnxruntime")
    expect("torch" not in str([declared["dependencies"], declared["optional-dependencies"]]), "PyTorch is needed")

    programs = set(re.findall(r"^protocom_add_program\((\S+)", text["apps/protocom/CMakeLists.txt"], re.M))
    started = set(re.search(r"foreach\(name ([^)]*)\)", text["python/wheel.cmake"])[1].split())
    expect(programs and programs == started, f"{programs} are programs, {started} are on the PATH")
    expect(set(built["install"]["components"]) == {"python", *programs}, "a wheel lacks programs")
    expect(all(f"add_custom_target({name} " in text["python/wheel.cmake"] for name in built["build"]["targets"]), "pip builds a target that is not there")
    expect(text["python/start_program.py"].startswith("#!python\n"), "pip would not start the programs by the environment's Python")
    options = re.findall(r'"(PROTOCOM_\w+)": "OFF"', text["scripts/wheel"])
    expect("PROTOCOM_TORCH" in options, "the wheel is linked with LibTorch")
    expect(all(f"option({option} " in text["CMakeLists.txt"] for option in options), "the wheel is built with an option that is not there")
    return found or list(faults_of_start(root))


def faults_of_start(root):
    """The programs' arguments, exit status and signals are their own, and the package is not imported to find them."""
    with tempfile.TemporaryDirectory() as place:
        package = pathlib.Path(place) / "site" / "protocom"
        (package / "bin").mkdir(parents=True)
        program = package / "bin" / "protocom"
        program.write_text('#!/bin/sh\n[ "$1" != term ] || kill -TERM $$\necho "$*"\nexit 7\n')
        program.chmod(0o755)
        shutil.copy(root / "python/protocom/__main__.py", package)
        script = pathlib.Path(place) / "protocom"
        shutil.copy(root / "python/start_program.py", script)
        for command, init in (([script], "raise SystemExit('imported')"), (["-m", "protocom"], "")):
            (package / "__init__.py").write_text(init)

            def run(*arguments):
                return subprocess.run([sys.executable, "-B", *command, *arguments], capture_output=True, text=True, env={"PYTHONPATH": str(package.parent)})

            done = run("two words", "x")
            if (done.returncode, done.stdout) != (7, "two words x\n"):
                yield f"{command[-1]} gave {done}"
            if run("term").returncode != -15:
                yield f"{command[-1]} hides a signal"


PLANTED = [
    ("pyproject.toml", 'dynamic = ["version"]', 'version = "0.1.0"\ndynamic = []'),
    ("CMakeLists.txt", "project(protocom VERSION", "project(protocom\n VERSION"),
    ("python/protocom/__init__.py", "__all__ =", '__version__ = "{version}"\n__all__ ='),
    ("pyproject.toml", 'dependencies = ["numpy"]', 'dependencies = ["numpy", "torch"]'),
    ("pyproject.toml", "onnxruntime>=", "onnx>="),
    ("pyproject.toml", '"protocom-serve"]', "]"),
    ("pyproject.toml", "protocom_wheel", "protocom_python"),
    ("python/wheel.cmake", "foreach(name protocom protocom-serve)", "foreach(name protocom)"),
    ("python/start_program.py", "#!python\n", ""),
    ("python/start_program.py", "import importlib.util\n", "import importlib.util\nimport protocom\n"),
    ("python/start_program.py", "os.execv(program, [program, *sys.argv[1:]])", "os.system(program)"),
    ("python/protocom/__main__.py", "*sys.argv[1:]", ""),
    ("scripts/wheel", '"PROTOCOM_TORCH": "OFF"', '"PROTOCOM_TORCH": "ON"'),
]

wrong = faults(SOURCE)
if wrong:
    sys.exit("\n".join(map(str, wrong)))
stated = re.search(r"project\(protocom VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
for name, before, after in PLANTED:
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place)
        for file in DECLARED:
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / file, copy / file)
        text = (copy / name).read_text()
        if before not in text:
            sys.exit(f"{name} has no '{before}' in which a fault could be planted")
        (copy / name).write_text(text.replace(before, after.replace("{version}", stated)))
        try:
            noticed = faults(copy)
        except (KeyError, TypeError) as error:
            noticed = [error]
        if not noticed:
            sys.exit(f"nobody notices '{after}' in {name}")
print(f"the wheel's declarations hold, {len(PLANTED)} faults would be noticed")
