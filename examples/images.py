"""
Images
======

A classifier of digits is scored on shifted, rotated and partly erased images.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from leavezero import GridSearchLZO
from leavezero.augment import ImageAugmenter

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=500, random_state=0)

# A callable on one image works as well, such as a pipeline of Albumentations or torchvision.
augmenter = ImageAugmenter((8, 8), transforms=["shift", "rotate", "erase"])
search = GridSearchLZO(
    KNeighborsClassifier(),
    {"n_neighbors": [1, 3, 9, 27]},
    augmenter=augmenter,
    n_replicates=2,
    random_state=0,
)
search.fit(X_train, y_train)
results = search.cv_results_
for params, score in zip(results["params"], results["mean_test_score"], strict=True):
    print(params, f"{score:.3f}")
print("best:", search.best_params_, f"test accuracy {search.score(X_test, y_test):.3f}")
