"""What only a whole process can show: threads, fork, Ctrl-C, limits on memory, and the first start on a machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from .processes import ROOT, finish, run, started

TWO = {"CLEARHEAD_NUM_THREADS": "2"}  # so that there is a pool on any machine


class TestThreads:
    def test_eight_at_once(self):
        code = """
            results = []
            def call(n):
                for turn in range(6):
                    q, k, v = arrays(n % 3 + 1, 40 * n + turn, seed=n)
                    results.append(right(q, k, v))
            threads = [threading.Thread(target=call, args=(n,)) for n in range(1, 9)]
            for t in threads: t.start()
            for t in threads: t.join()
            print(len(results), all(results))
        """
        assert run(code, **TWO) == "48 True"

    def test_eight_at_once_on_first_use(self):
        """The kernel is loaded or compiled once, whoever comes first."""
        code = """
            q, k, v = arrays(2, 300)
            results, barrier = [], threading.Barrier(8)
            def call():
                barrier.wait()
                results.append(attention(q, k, v, mask=causal()))
            threads = [threading.Thread(target=call) for _ in range(8)]
            for t in threads: t.start()
            for t in threads: t.join()
            print(len({x.tobytes() for x in results}), right(q, k, v, results[0]))
        """
        assert run(code, **TWO) == "1 True"

    def test_the_environment_says_how_many(self):
        code = (
            "from clearhead.kernels.schedule import get_num_threads; print(get_num_threads(), right(*arrays(3, 200)))"
        )
        assert run(code, CLEARHEAD_NUM_THREADS="3") == "3 True"

    @pytest.mark.parametrize("asked", ["0", "-1", "two", "1.5"])
    def test_the_environment_is_checked(self, asked, monkeypatch):
        from clearhead.kernels import schedule

        monkeypatch.setenv(schedule.VARIABLE, asked)
        monkeypatch.setattr(schedule, "_threads", None)
        with pytest.raises(
            ValueError, match=f"CLEARHEAD_NUM_THREADS must be a whole number of at least 1, got '{asked}'"
        ):
            schedule.get_num_threads()

    def test_at_the_very_end_of_a_process(self):
        """When Python has begun to shut down, no thread can be started any more."""
        code = """
            import atexit
            atexit.register(lambda: print(right(*arrays(4, 400))))
            print(right(*arrays(4, 400)))
        """
        assert run(code, **TWO).split() == ["True", "True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
class TestFork:
    CHILD = """
        def in_child(what):
            pid = os.fork()
            if pid == 0:
                try:
                    os._exit(0 if what() else 3)
                finally:
                    os._exit(4)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

        q, k, v = arrays(4, 400)
    """

    def test_before_any_call(self):
        assert run(self.CHILD, "print(in_child(lambda: right(q, k, v)), right(q, k, v))", **TWO) == "0 True"

    def test_after_the_pool_was_used(self):
        code = """
            before = attention(q, k, v, mask=causal())
            same = lambda: attention(q, k, v, mask=causal()).tobytes() == before.tobytes()
            print(in_child(same), in_child(lambda: in_child(same) == 0), same())
        """
        assert run(self.CHILD, code, **TWO) == "0 0 True"

    def test_while_another_thread_is_in_a_call(self):
        code = """
            before = attention(q, k, v, mask=causal())
            stop = threading.Event()
            def busy():
                while not stop.is_set():
                    attention(q, k, v, mask=causal())
            thread = threading.Thread(target=busy)
            thread.start()
            same = lambda: attention(q, k, v, mask=causal()).tobytes() == before.tobytes()
            codes = [in_child(same) for _ in range(10)]
            stop.set()
            thread.join()
            print(set(codes), same())
        """
        assert run(self.CHILD, code, **TWO) == "{0} True"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent another way on Windows")
@pytest.mark.parametrize(
    "call",
    [
        pytest.param("attention(*long, mask=causal())", id="many tasks"),
        pytest.param("attention(*long, mask=~dilated(3))", id="a rule in strips"),
        pytest.param("[attention(q, k, v) for _ in range(10**6)]", id="one call after another"),
        pytest.param("attention(long[0][:1, :64], *(np.broadcast_to(x[:1, :1], (1, 3 * 10**7, 64)) for x in long[1:]))",
                     id="few queries"),
    ],
)  # fmt: skip
def test_ctrl_c_is_heard_and_nothing_is_broken(call):
    """KeyboardInterrupt arrives within 2 s of a call that takes much longer, and the next call is right."""
    code = f"""
        from clearhead.masks import dilated
        q, k, v = arrays(4, 400)
        before = attention(q, k, v, mask=causal())
        long = arrays(8, 60_000, d=64)
        print("ready", flush=True)
        try:
            {call}
            print("it was not interrupted")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(attention(q, k, v, mask=causal()).tobytes() == before.tobytes(), right(q, k, v))
    """
    with started(code, **TWO) as process:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 2
        assert finish(process, 60) == "True True"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="address space is measured by way of /proc")
def test_memory_does_not_grow_with_the_square():
    """n = 32,768, 8 heads, causal: 32 GiB of scores, in 1 GiB of which the arrays are a quarter."""
    code = """
        import resource
        n = 32_768
        right(*arrays(4, 400))  # loads what there is to load
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        used = int(status["VmSize"].split()[0]) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
        q, k, v = arrays(8, n, d=64)
        output, lse = attention(q, k, v, mask=causal(), return_lse=True)
        for i in (0, 1, 1000, n - 1):
            scores = (k[:, : i + 1].astype(float) @ q[:, i, :, None].astype(float))[..., 0] / 8
            top = scores.max(axis=-1, keepdims=True)
            weights = np.exp(scores - top)
            total = weights.sum(axis=-1, keepdims=True)
            expected = ((weights / total)[:, None] @ v[:, : i + 1])[:, 0]
            assert np.abs(output[:, i] - expected).max() < 1e-6, i
            assert np.abs(lse[:, i] - (np.log(total) + top)[:, 0]).max() < 1e-5, i
        try:
            np.empty((8, n, n), np.float32)
            print("there was no limit")
        except MemoryError:
            print("done")
    """
    assert run(code, timeout=300, OPENBLAS_NUM_THREADS="1", **TWO) == "done"


class TestTheFirstStart:
    def test_a_package_that_cannot_be_written_and_two_processes_at_once(self, tmp_path):
        """The cache falls back to the user's directory; both compile, both are right, and the next one is quick."""
        package = shutil.copytree(
            ROOT / "src" / "clearhead",
            tmp_path / "installed" / "clearhead",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        for room in (package, package / "kernels"):
            (room / "__pycache__").write_text("a file, so that nobody can write into the directory")
        environment = {"PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(tmp_path / "cache"), **TWO}
        code = """
            import clearhead
            print(clearhead.__file__, right(*arrays(2, 200)), "numba" in sys.modules)
        """
        expected = f"{package / '__init__.py'} True"
        with started(code, **environment) as one, started(code, **environment) as other:
            assert [finish(process, 240).rsplit(" ", 1)[0] for process in (one, other)] == [expected, expected]
        assert list((tmp_path / "cache").rglob("*.code"))
        assert run(code, **environment) == f"{expected} False", "what lies on the disk needs no compiler"

    def test_kernels_of_different_processes_do_not_call_each_other(self, tmp_path):
        """One process compiles attention, the next looking, and the third has both from the disk."""
        environment = {"NUMBA_CACHE_DIR": str(tmp_path), **TWO}
        run("attention(*arrays(2, 100))", **environment)
        code = """
            from clearhead.views import look
            q, k, v = arrays(2, 37)
            attention(q, k, v)
            weights = textbook(*(x.astype(np.float64) for x in (q, k, v)))[1]
            print(np.abs(look(q, k, v).received - weights.sum(axis=-2)).max() < 1e-5)
        """
        assert [run(code, **environment) for _ in range(2)] == ["True", "True"]

    def test_nothing_can_be_written_at_all(self, tmp_path):
        """Then every process compiles for itself."""
        package = shutil.copytree(
            ROOT / "src" / "clearhead",
            tmp_path / "installed" / "clearhead",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        nowhere = package / "kernels" / "__pycache__"
        nowhere.write_text("a file")
        environment = {"PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(nowhere), "HOME": str(nowhere)}
        code = """
            from clearhead.kernels.machine_code import Kernel, folders
            print(Kernel("clearhead.kernels.join", "join", numbers=1).address(np.dtype(np.float32)) > 0)
            print([folder for folder in folders() if folder.is_dir()])
        """
        assert run(code, **environment).split() == ["True", "[]"]

    def test_importing_is_quick_and_loads_nothing_heavy(self):
        code = (
            "import sys, time; t = time.perf_counter(); import clearhead; print(time.perf_counter() - t, *sys.modules)"
        )
        best = 9.0
        for _ in range(5):
            seconds, *modules = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT).split()
            assert not {"numba", "llvmlite", "matplotlib", "torch", "transformers"} & set(modules)
            best = min(best, float(seconds))
        assert best < 0.3

    def test_naming_attention_loads_no_compiler(self):
        code = (
            "import sys, clearhead; clearhead.attention, clearhead.masks.causal(), clearhead.merge; print(*sys.modules)"
        )
        modules = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT).split()
        assert "clearhead.dispatch" in modules
        assert not {"numba", "llvmlite", "matplotlib", "torch"} & set(modules)

    def test_nothing_is_compiled_when_the_kernels_are_imported(self, tmp_path):
        code = """
            import importlib, pkgutil, clearhead.kernels
            from numba.core.dispatcher import Dispatcher
            found = 0
            for name in pkgutil.iter_modules(clearhead.kernels.__path__):
                module = importlib.import_module(f"clearhead.kernels.{name.name}")
                for x in vars(module).values():
                    if isinstance(x, Dispatcher):
                        found += 1
                        assert not x.overloads, (module, x)
            print(found > 10)
        """
        assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == "True"
        assert not list(tmp_path.iterdir())
