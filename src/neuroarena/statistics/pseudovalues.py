"""Correlations in the cells of images and neuroids: what each image contributes to each neuroid's score.

A correlation has no value per image. Its pseudo-value N r - (N - 1) r(-i), with r(-i) the correlation
without image i, stands in for it: the mean over images is the correlation freed of its first-order bias.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neuroarena.errors import InputError

Transform = Callable[[np.ndarray], np.ndarray]


def signed_square(correlation: np.ndarray) -> np.ndarray:
    """Return r |r|: the share of explained variance, which keeps the sign of the correlation.

    Examples
    --------
    >>> signed_square(np.array([0.5, -0.5])).tolist()
    [0.25, -0.25]
    """
    signed: np.ndarray = correlation * np.abs(correlation)
    return signed


def pseudovalues(score: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """Return N s - (N - 1) s(-i) for each neuroid or subject.

    Parameters
    ----------
    score
        Score of each neuroid on all N images (neuroids,).
    left_out
        The same without each image (images, neuroids).

    Examples
    --------
    >>> pseudovalues(np.array([2.0]), np.array([[1.0], [3.0]])).tolist()
    [[3.0], [1.0]]
    """
    n_images = len(left_out)
    found: np.ndarray = n_images * np.asarray(score) - (n_images - 1) * np.asarray(left_out)
    return found


def left_out_correlations(
    predicted: np.ndarray, observed: np.ndarray, transform: Transform | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlation of each neuroid on all images and without each, from running sums.

    Parameters
    ----------
    predicted, observed
        Held-out predictions and responses (images, neuroids).
    transform
        From correlations to scores, element by element, such as `signed_square`; None keeps them.

    Returns
    -------
    score, left_out
        (neuroids,) and (images, neuroids).

    Raises
    ------
    InputError
        When shapes disagree, fewer than three images are given, or a correlation is not defined because
        predictions or responses do not vary; image and neuroid are named.

    Examples
    --------
    >>> predicted, observed = np.array([[1.0], [2.0], [3.0], [5.0]]), np.array([[1.0], [3.0], [2.0], [4.0]])
    >>> score, left_out = left_out_correlations(predicted, observed)
    >>> score.round(4).tolist(), left_out.round(4).ravel().tolist()
    ([0.8315], [0.6547, 0.982, 0.891, 0.5])
    """
    x, y = _centre(predicted, observed)
    n = len(x)
    sums = [values.sum(axis=0) for values in (x, y, x * x, y * y, x * y)]
    score = _correlate(np.float64(n), sums)
    parts = [total - values for total, values in zip(sums, (x, y, x * x, y * y, x * y), strict=True)]
    left_out = _correlate(np.float64(n - 1), parts)
    _check_defined(score, left_out, "neuroid")
    return (score, left_out) if transform is None else (transform(score), transform(left_out))


def left_out_rdm_correlations(
    model: np.ndarray, subjects: np.ndarray, transform: Transform | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlation of a model's RDM with that of each subject, on all images and without each.

    Leaving out an image drops its row and its column. Only the pairs of different images count.

    Parameters
    ----------
    model
        Dissimilarities of the images, symmetric (images, images).
    subjects
        The same for each subject (subjects, images, images).
    transform
        As in `left_out_correlations`.

    Returns
    -------
    score, left_out
        (subjects,) and (images, subjects).

    Raises
    ------
    InputError
        When shapes disagree, fewer than four images are given, a number is not finite, or dissimilarities
        are all equal; image and subject are named.

    Examples
    --------
    >>> places = np.array([0.0, 1.0, 3.0, 7.0, 8.0])
    >>> rdm = np.abs(places[:, None] - places)
    >>> score, left_out = left_out_rdm_correlations(rdm, np.stack([2 * rdm + 1, -rdm]))
    >>> score.round(6).tolist(), left_out.shape
    ([1.0, -1.0], (5, 2))
    """
    x, y = _check_rdms(model, subjects)
    n_images = len(x)
    pairs = 1.0 - np.eye(n_images)
    n = n_images * (n_images - 1) / 2
    x = (x - (x * pairs).sum() / (2 * n)) * pairs
    y = (y - (y * pairs).sum(axis=(1, 2), keepdims=True) / (2 * n)) * pairs
    x = np.broadcast_to(x, y.shape)
    # A symmetric sum counts every pair twice, the row of an image each of its pairs once.
    by_image = [values.sum(axis=2).T for values in (x, y, x * x, y * y, x * y)]
    sums = [rows.sum(axis=0) / 2 for rows in by_image]
    score = _correlate(np.float64(n), sums)
    left_out = _correlate(
        np.float64(n - n_images + 1), [total - rows for total, rows in zip(sums, by_image, strict=True)]
    )
    _check_defined(score, left_out, "subject")
    return (score, left_out) if transform is None else (transform(score), transform(left_out))


def left_out_rank_correlations(model: np.ndarray, subjects: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Spearman's correlation of a model's RDM with that of each subject, on all images and without each.

    Leaving out an image drops its row and its column, and what remains is ranked again: ranks that are kept
    would hide how far the ranks themselves depend on an image. Equal dissimilarities share their mean rank.

    Parameters
    ----------
    model, subjects
        As in `left_out_rdm_correlations`.

    Returns
    -------
    score, left_out
        (subjects,) and (images, subjects).

    Raises
    ------
    InputError
        As in `left_out_rdm_correlations`.

    Examples
    --------
    >>> places = np.array([0.0, 1.0, 3.0, 7.0, 8.0])
    >>> rdm = np.abs(places[:, None] - places)
    >>> score, left_out = left_out_rank_correlations(rdm, np.stack([rdm**3, -rdm]))
    >>> score.round(6).tolist(), left_out.round(6)[0].tolist()
    ([1.0, -1.0], [1.0, -1.0])
    """
    x, y = _check_rdms(model, subjects)
    first, second = np.triu_indices(len(x), 1)
    # Sorted once: the rank of a value among those that remain is a count over its place in the order.
    places = [np.unique(rdm[first, second], return_inverse=True)[1] for rdm in (x, *y)]
    kept = [np.ones(len(first), dtype=bool), *((first != at) & (second != at) for at in range(len(x)))]
    found = np.array([_correlate_ranks([place[remains] for place in places]) for remains in kept])
    _check_defined(found[0], found[1:], "subject")
    return found[0], found[1:]


def _correlate_ranks(places: list[np.ndarray]) -> np.ndarray:
    """Return the correlation of the first variable's ranks with those of each other; NaN where one is all equal."""
    ranks = []
    for place in places:
        occurs = np.bincount(place)
        mean_rank = np.cumsum(occurs) - (occurs - 1) / 2
        ranks.append(mean_rank[place] - (len(place) + 1) / 2)
    model, *subjects = ranks
    products = np.array([model @ each for each in subjects])
    squares = (model @ model) * np.array([each @ each for each in subjects])
    undefined = np.full(len(subjects), np.nan)
    found: np.ndarray = np.divide(products, np.sqrt(squares), out=undefined, where=squares > 0)
    return found


def _check_rdms(model: np.ndarray, subjects: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an RDM (images, images) and those of the subjects (subjects, images, images), or refuse them."""
    x, y = np.asarray(model, dtype=np.float64), np.asarray(subjects, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 3 or x.shape != y.shape[1:] or x.shape[0] != x.shape[1] or len(x) < 4:
        raise InputError(
            "The RDMs must be (images, images) and (subjects, images, images) with at least four images; "
            f"got {x.shape} and {y.shape}."
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("Every dissimilarity must be finite. Nothing was judged.")
    return x, y


def correlation_cells(
    predicted: np.ndarray, observed: np.ndarray, transform: Transform | None = None
) -> tuple[np.ndarray, float]:
    """Return the pseudo-values (images, neuroids) of a model, and its score: the mean over neuroids.

    Parameters
    ----------
    predicted, observed, transform
        As in `left_out_correlations`.

    Raises
    ------
    InputError
        As in `left_out_correlations`.
    """
    score, left_out = left_out_correlations(predicted, observed, transform)
    return pseudovalues(score, left_out), float(score.mean())


def weighted_correlations(predicted: np.ndarray, observed: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the correlation of each neuroid in draws of images.

    Parameters
    ----------
    predicted, observed
        (images, neuroids).
    counts
        How often each image was drawn (draws, images).

    Returns
    -------
    numpy.ndarray
        (draws, neuroids); NaN where a draw does not vary.

    Examples
    --------
    >>> predicted, observed = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [3.0], [2.0]])
    >>> weighted_correlations(predicted, observed, np.array([[1, 1, 1], [1, 2, 0]])).round(6).tolist()
    [[0.5], [1.0]]
    """
    x, y = _centre(predicted, observed)
    weights = np.asarray(counts, dtype=np.float64)
    return _correlate(
        weights.sum(axis=1)[:, None], [weights @ values for values in (x, y, x * x, y * y, x * y)]
    )


def _check_defined(score: np.ndarray, left_out: np.ndarray, noun: str) -> None:
    if np.isfinite(score).all() and np.isfinite(left_out).all():
        return
    image, which = np.argwhere(~np.isfinite(np.vstack([score, left_out])))[0]
    where = "on all images" if image == 0 else f"without image {image - 1}"
    raise InputError(
        f"{noun.capitalize()} {which}: the correlation {where} is not defined, because one of its two sides is "
        f"all equal there. Leave the {noun} out for every model."
    )


def _centre(predicted: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both arrays less their means, so that sums of squares do not cancel."""
    x, y = np.asarray(predicted, dtype=np.float64), np.asarray(observed, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 2 or len(x) < 3:
        raise InputError(
            "Predictions and responses must have the same shape (images, neuroids) and at least three images; "
            f"got {x.shape} and {y.shape}."
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        image, neuroid = np.argwhere(~(np.isfinite(x) & np.isfinite(y)))[0]
        raise InputError(
            f"Image {image}, neuroid {neuroid}: prediction {x[image, neuroid]}, response {y[image, neuroid]}. "
            "Every number must be finite. Nothing was judged."
        )
    return x - x.mean(axis=0), y - y.mean(axis=0)


def _correlate(n: np.ndarray | np.float64, sums: list[np.ndarray]) -> np.ndarray:
    """Return correlations from n and the sums of x, y, x^2, y^2 and x y."""
    sum_x, sum_y, sum_xx, sum_yy, sum_xy = sums
    spread_x, spread_y = sum_xx - sum_x**2 / n, sum_yy - sum_y**2 / n
    # What rounding leaves of a spread that is 0 is no spread.
    varies = (spread_x > 1e-12 * sum_xx) & (spread_y > 1e-12 * sum_yy)
    product = np.sqrt(np.where(varies, spread_x * spread_y, np.nan))
    found: np.ndarray = np.clip((sum_xy - sum_x * sum_y / n) / product, -1.0, 1.0)
    return found
