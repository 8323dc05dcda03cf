import pytest

from bench.figures import percentile, ratio, short, spread


def test_a_percentile_is_the_nearest_rank():
    values = [float(number) for number in range(100, 0, -1)]

    assert [percentile(values, percent) for percent in (1, 50, 99, 100)] == [1, 50, 99, 100]


def test_a_percentile_of_few_values_is_one_of_them():
    assert [percentile([3.0, 1.0, 2.0], percent) for percent in (0.1, 50, 99)] == [1, 2, 3]


def test_there_is_no_percentile_of_nothing():
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


def test_a_spread_shows_median_least_and_greatest():
    assert spread([1000.0, 1200.0, 900.0]) == "1000 (900\N{EN DASH}1200)"


def test_a_ratio_relates_the_medians():
    assert ratio([1.0, 3.0, 2.0], [4.0]) == "0.50"


@pytest.mark.parametrize(("values", "rival"), [([], [1.0]), ([1.0], []), ([1.0], [0.0])])
def test_without_something_to_compare_a_ratio_is_a_dash(values, rival):
    assert ratio(values, rival) == "-"


def test_a_spread_of_nothing_is_a_dash():
    assert spread([]) == "-"


def test_numbers_keep_the_digits_that_count():
    assert [short(value) for value in (1234.5, 99.94, 9.999)] == ["1234", "99.9", "10.00"]
