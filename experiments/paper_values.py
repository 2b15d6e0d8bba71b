"""Values printed in the paper; never our results.

W. Li, C. Geng, S. Chen. Leave Zero Out: Towards a No-Cross-Validation Approach for Model Selection.
arXiv:2012.13309, 2020. Tables 3 and 5.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A mean and the number after its plus-minus sign, as printed."""

    mean: str
    error: str

    @property
    def value(self) -> float:
        """The mean as a number."""
        return float(self.mean)

    def __str__(self) -> str:
        return f"{self.mean} ± {self.error}"


def _rows(text: str) -> dict[str, tuple[Printed, ...]]:
    """Return the printed pairs of each line by its first word."""
    lines = [line.split() for line in text.strip().splitlines()]
    return {
        words[0]: tuple(Printed(*words[at : at + 2]) for at in range(1, len(words), 2))
        for words in lines
    }


TABLE3_COLUMNS = ("10-fold", "LZO, m = n", "LZO, m = 10 n")
TABLE3_WINS = (9, 7, 11)  # as printed: the bold cells

# Accuracy in percent, for each of the columns the mean and what the paper calls its standard error.
TABLE3_ACCURACY = _rows("""
    balance    67.73 0.40  70.03 1.17  70.61 0.00
    breast     65.47 0.00  72.62 0.00  72.66 0.00
    bupa       70.15 0.60  69.51 0.33  69.86 0.03
    clever     85.08 1.11  85.32 0.69  85.40 0.01
    dim        77.37 1.52  81.25 0.00  81.25 0.00
    dna        92.90 0.74  93.44 0.47  93.61 0.01
    glass      54.04 2.53  49.82 0.00  49.79 0.00
    heart      81.41 0.34  81.25 0.72  81.14 0.00
    housing    52.48 2.42  79.50 1.30  80.61 0.16
    ionosphere 88.84 1.03  89.17 0.56  89.56 0.12
    iris       94.45 0.70  94.34 2.10  97.33 0.32
    mushroom   93.30 0.00  87.42 0.00  84.69 0.00
    musk       85.97 0.00  85.97 0.00  86.97 0.00
    segment    90.01 0.93  87.73 0.22  87.73 0.00
    sonar      49.69 1.98  55.24 0.00  55.24 0.00
    testSet    100 0       100 0       100 0
    vehicle    77.94 0.07  75.63 0.91  75.71 0.00
    vote       91.91 0.08  92.85 0.46  92.74 0.05
    wine       98.91 0.41  98.65 1.03  97.78 0.10
    wpbc       76.34 0.93  76.43 1.43  76.09 0.05
""")

# Seconds, in the same columns.
TABLE3_SECONDS = _rows("""
    balance    11.65 0.49   1.27 0.01   2.75 1.16
    breast     150.90 5.63  17.54 0.07  24.84 11.29
    bupa       68.53 2.94   6.64 0.04   6.84 0.11
    clever     106.47 6.60  7.94 0.04   8.05 0.03
    dim        50.83 1.23   5.22 0.03   9.94 0.31
    dna        32.28 11.25  6.42 0.40   6.84 0.71
    glass      2.43 0.93    0.29 0.00   0.45 0.07
    heart      26.90 3.72   0.06 0.01   1.62 0.23
    housing    227.86 3.03  21.63 0.14  29.81 4.28
    ionosphere 32.90 8.14   11.43 0.06  15.96 2.09
    iris       0.03 0.00    0.00 0.00   0.00 0.40
    mushroom   20.74 0.24   2.99 0.02   6.73 0.40
    musk       137.73 3.67  14.17 0.08  20.73 2.56
    segment    402.39 0.90  44.73 0.23  63.35 7.29
    sonar      0.50 0.01    0.06 0.00   0.09 0.00
    testSet    0.02 0.00    0.00 0.00   0.01 0.00
    vehicle    86.39 1.32   7.66 0.03   11.06 1.79
    vote       28.71 0.02   3.02 0.00   4.12 0.01
    wine       19.92 1.24   2.23 0.01   2.82 0.67
    wpbc       23.50 0.29   2.37 0.01   2.62 0.06
""")

TABLE5_COLUMNS = ("2-fold", "LZO, m = n", "LZO, m = 10 n")

# Classification error in percent. The first column is copied from the paper on SMIR.
TABLE5_ERROR = _rows("""
    g241c  31.69 0.66  27.31 2.74  27.56 0.62
    g241n  33.76 0.65  28.04 3.99  28.94 0.57
    digit1 10.23 0.40  5.25 1.45   5.41 0.46
    usps   12.23 0.40  7.67 1.61   8.17 0.69
    coil   33.62 0.82  23.49 4.74  25.43 0.96
    coil2  24.12 0.69  12.78 2.36  13.23 0.67
    text   38.80 0.64  38.89 3.80  38.81 0.93
""")
