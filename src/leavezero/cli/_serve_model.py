"""A local web page to try a saved model: one row in a form, or a table as CSV."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from leavezero.cli._output import TableError, print_notice
from leavezero.cli._read_table import ReadOptions
from leavezero.cli._saved_model import DataNotices, TableModel, load_model, predict_table

MAX_UPLOAD = 2**28  # bytes
_HOSTS = ("127.0.0.1", "localhost")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"


def run_serve(path: Path, port: int, trusted: tuple[str, ...] = ()) -> None:
    """Serve the page on this machine until Ctrl-C."""
    try:
        from werkzeug.serving import make_server
    except ImportError as error:
        raise TableError('serve requires flask: pip install "leavezero[serve]".') from error
    server = make_server(_HOSTS[0], port, make_app(load_model(path, trusted)))
    print_notice(f"Open http://{_HOSTS[0]}:{server.port} in a browser. Ctrl-C stops.")
    server.serve_forever()


def make_app(model: TableModel) -> Any:
    """Return the WSGI application."""
    from flask import Flask, Response, abort, render_template, request

    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = MAX_UPLOAD

    def page(**values: Any) -> str:
        return render_template("serve.html", model=model, **({"row": {}} | values))

    @app.before_request
    def check_host() -> None:
        # a name that points to this machine would let other sites read predictions
        if request.host.partition(":")[0] not in _HOSTS:
            abort(403)

    @app.after_request
    def add_policy(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = _POLICY
        return response

    @app.errorhandler(TableError)
    def explain(error: TableError) -> tuple[str, int]:
        return page(error=str(error)), 400

    @app.get("/")
    def show() -> str:
        return page()

    @app.post("/")
    def predict_row() -> str:
        row, notices = request.form.to_dict(), DataNotices(model)
        X = notices.convert(pd.DataFrame([{name: row.get(name, "") for name in model.columns}]))
        found = model.predict(X, proba=bool(model.classes)).iloc[0].to_dict()
        return page(row=row, found=found, notices=list(notices))

    @app.post("/table")
    def predict_file() -> Response:
        with TemporaryDirectory() as directory:
            table, out = Path(directory) / "table.csv", Path(directory) / "predictions.csv"
            request.files["table"].save(table)
            try:
                reading = ReadOptions()
                predict_table(model, table, reading, out, proba=bool(model.classes), quiet=True)
            except TableError as error:  # the browser knows no path on this machine
                raise TableError(str(error).replace(str(table), "the file")) from error
            content = out.read_bytes()
        headers = {"Content-Disposition": "attachment; filename=predictions.csv"}
        return Response(content, mimetype="text/csv", headers=headers)

    return app
