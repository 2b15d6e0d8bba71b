"""Files that commands write."""

import pytest

from leavezero.cli._output import exit_codes, write_text


@pytest.mark.parametrize("name", ["report.html", "report.html.part"])
def test_links_and_files_of_the_user_are_not_written_to(tmp_path, name):
    """A link at the place of the output is replaced; the file that it points to is not changed."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / name).symlink_to(victim)
    write_text(tmp_path / "report.html", "new")
    assert victim.read_text() == "precious"
    assert (tmp_path / "report.html").read_text() == "new"
    assert not (tmp_path / "report.html").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"victim", "report.html", name}


def test_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        write_text(tmp_path / "report.html", None)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_ends_a_command_quietly(capsys):
    """Such as that of ``head``: typer exits with 1, without a message."""
    with pytest.raises(BrokenPipeError), exit_codes():
        raise BrokenPipeError
    assert capsys.readouterr().err == ""
