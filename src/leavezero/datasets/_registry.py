"""What is known of every named data set before it is loaded."""

from dataclasses import dataclass

_UCI = "CC BY 4.0 by the UCI repository; other copies may differ"
_UNKNOWN = "not stated by its source"
_BOOK = "not stated; published for benchmarks with Chapelle et al. (2006)"
_SSL = "The benchmarks of Chapelle, Schoelkopf, Zien: Semi-Supervised Learning (2006)"


@dataclass(frozen=True)
class OpenMLRecord:
    """Where OpenML holds a data set, and what must be done to it on arrival.

    Parameters
    ----------
    id : int
        OpenML's number.
    n_rows, n_columns : int
        The shape in which it is expected to arrive, without the target.
    dropped : tuple of str, default=()
        Columns that are no features.
    missing : {"code", "drop", "fill"}, default="code"
        A missing cell gets a code of its own; its row is dropped; or it is filled with the
        column's median or most frequent value.
    words : tuple of pairs, default=()
        The number of each word, where cells are not simply numbered; a missing cell is 0.
    above : float or None, default=None
        Classes are whether the target exceeds this number.
    tried : bool, default=False
        Whether it has been downloaded and checked; False where it is known from its description
        only.

    Examples
    --------
    >>> from leavezero.datasets import describe
    >>> describe("sonar").openml.id
    40
    """

    id: int
    n_rows: int
    n_columns: int
    dropped: tuple[str, ...] = ()
    missing: str = "code"
    words: tuple[tuple[str, int], ...] = ()
    above: float | None = None
    tried: bool = False


@dataclass(frozen=True)
class Description:
    """What is known of a data set before it is loaded.

    Parameters
    ----------
    name : str
        What it is called here.
    n_rows, n_columns, n_classes : int
        Its shape, which is checked when it is loaded; 0 classes where the target is numbers.
    provenance : str
        Where it comes from.
    license : str
        What is known of its terms.
    caveats : tuple of str, default=()
        What to keep in mind, the paper's misprints among them.
    table : int or None, default=None
        The table of the paper (Li et al. 2020) that lists it: 2 supervised, 4 semi-supervised.
    book : int or None, default=None
        Its number among the benchmarks of Chapelle et al. (2006).
    openml : OpenMLRecord or None, default=None
        Where OpenML holds it.
    lost : str, default=""
        Why nobody has it, if so.

    Examples
    --------
    >>> from leavezero.datasets import describe
    >>> glass = describe("glass")
    >>> glass.n_rows, glass.n_columns, glass.n_classes
    (214, 9, 6)
    """

    name: str
    n_rows: int
    n_columns: int
    n_classes: int
    provenance: str
    license: str
    caveats: tuple[str, ...] = ()
    table: int | None = None
    book: int | None = None
    openml: OpenMLRecord | None = None
    lost: str = ""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and classes."""
        return self.n_rows, self.n_columns, self.n_classes


def _uci(
    name: str,
    shape: tuple[int, int, int],
    provenance: str,
    *caveats: str,
    openml: OpenMLRecord | None = None,
    license: str = _UCI,
) -> Description:
    return Description(name, *shape, provenance, license, caveats, table=2, openml=openml)


_SUPERVISED = (
    _uci("balance", (625, 4, 3), "UCI Balance Scale", openml=OpenMLRecord(11, 625, 4)),
    _uci(
        "breast",
        (277, 9, 2),
        "UCI Breast Cancer (Ljubljana), its complete rows, categories as whole numbers",
        "not Breast Cancer Wisconsin, which is 'breast_cancer' here",
        openml=OpenMLRecord(13, 286, 9, missing="drop"),
    ),
    _uci(
        "bupa",
        (345, 6, 2),
        "UCI Liver Disorders",
        "the class is the donors' selector of training rows, no diagnosis",
        "OpenML's copy (8) lacks the selector",
    ),
    _uci(
        "clever",
        (297, 13, 2),
        "UCI Heart Disease, Cleveland, complete rows; 0 against above 0",
        "the paper's name for cleveland; its rows are among those of 'heart'",
    ),
    Description(
        "dim",
        4192,
        14,
        2,
        "star against galaxy, dim objects of a survey plate",
        _UNKNOWN,
        ("never a number in a table unless a file of this shape is given",),
        table=2,
        lost="no public copy of 4,192 rows and 14 columns was found",
    ),
    _uci(
        "dna",
        (2000, 180, 3),
        "Statlog DNA, its training part, three bits for each of 60 bases",
        "OpenML's copy (40670) holds all 3,186 rows in one table",
    ),
    _uci("glass", (214, 9, 6), "UCI Glass Identification", openml=OpenMLRecord(41, 214, 9)),
    _uci(
        "heart",
        (303, 13, 2),
        "UCI Heart Disease, Cleveland; 6 missing cells hold the column's mode",
        "holds all rows of 'clever'",
        "the paper prints 0.06 s for it at m = n, out of line with its other times",
        openml=OpenMLRecord(49, 303, 13, missing="fill"),
    ),
    _uci(
        "housing",
        (506, 13, 2),
        "Boston Housing (Harrison and Rubinfeld 1978), StatLib; MEDV above 21.2, its median",
        "one column encodes a racist assumption; here for comparison only",
        openml=OpenMLRecord(531, 506, 13, above=21.2),
        license=_UNKNOWN,
    ),
    _uci("ionosphere", (351, 34, 2), "UCI Ionosphere", openml=OpenMLRecord(59, 351, 34)),
    _uci("iris", (150, 4, 3), "Fisher (1936), UCI Iris", openml=OpenMLRecord(61, 150, 4)),
    _uci(
        "mushroom",
        (8124, 22, 2),
        "UCI Mushroom, categories as whole numbers",
        openml=OpenMLRecord(24, 8124, 22),
    ),
    _uci(
        "musk",
        (6598, 166, 2),
        "UCI Musk, version 2",
        "rows are conformations of 102 molecules, so that random splits share molecules",
        "the paper prints 85.97 twice in bold beside 86.97, perhaps a misprint",
        openml=OpenMLRecord(1116, 6598, 167, dropped=("ID",)),
    ),
    _uci(
        "segment",
        (768, 8, 2),
        "Pima Indians Diabetes, inferred from the paper's shape",
        "not UCI Image Segmentation, which is 'segment7' here",
        openml=OpenMLRecord(37, 768, 8),
        license=_UNKNOWN,
    ),
    _uci(
        "sonar",
        (208, 60, 2),
        "UCI Connectionist Bench (Sonar, Mines and Rocks)",
        openml=OpenMLRecord(40, 208, 60),
    ),
    _uci(
        "testSet",
        (100, 2, 2),
        "a made set of a textbook's exercises",
        "one of two sets of this shape that the name could mean",
        license=_UNKNOWN,
    ),
    _uci("vehicle", (846, 18, 4), "Statlog Vehicle Silhouettes", openml=OpenMLRecord(54, 846, 18)),
    _uci(
        "vote",
        (435, 16, 2),
        "UCI Congressional Voting Records; yes 1, no -1, neither 0",
        openml=OpenMLRecord(56, 435, 16, words=(("y", 1), ("n", -1))),
    ),
    _uci("wine", (178, 13, 3), "UCI Wine", openml=OpenMLRecord(187, 178, 13)),
    _uci(
        "wpbc",
        (198, 33, 2),
        "UCI Breast Cancer Wisconsin (Prognostic); 4 missing cells hold the column's median",
    ),
)


def _book(
    name: str, number: int, *caveats: str, shape: tuple[int, int, int] = (1500, 241, 2)
) -> Description:
    return Description(name, *shape, f"{_SSL}, set {number}", _BOOK, caveats, 4, number)


_SEMI_SUPERVISED = (
    _book("g241c", 5),
    _book("g241n", 7, "g241d in the book"),
    _book("digit1", 1),
    _book("usps", 2, "one class holds 1,200 of the 1,500 rows"),
    _book("coil", 6, "the paper's Table 4 prints 2 classes, COIL2's", shape=(1500, 241, 6)),
    _book("coil2", 3, "the paper's Table 4 prints 6 classes, COIL's"),
    _book("bci", 4, "in the paper's Table 4, not in its Table 5", shape=(400, 117, 2)),
    _book("text", 9, "a sparse matrix", shape=(1500, 11960, 2)),
)

_BUNDLED = (
    Description("breast_cancer", 569, 30, 2, "UCI Breast Cancer Wisconsin (Diagnostic)", _UCI),
    Description("diabetes", 442, 10, 0, "Efron et al. (2004); the target is numbers", _UNKNOWN),
    Description("digits", 1797, 64, 10, "UCI Optical Recognition of Handwritten Digits", _UCI),
    Description(
        "segment7",
        2310,
        19,
        7,
        "UCI Image Segmentation",
        _UCI,
        ("what the paper's name 'segment' means elsewhere",),
        openml=OpenMLRecord(36, 2310, 19),
    ),
)

REGISTRY: dict[str, Description] = {
    description.name: description for description in (*_SUPERVISED, *_SEMI_SUPERVISED, *_BUNDLED)
}
ALIASES = {"ssl_text": "text"}  # as the lines of the regret study on text call it
