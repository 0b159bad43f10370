"""The Python module examples/python/frictiond.py and the Python examples."""


def test_a_tile_with_python_alone(tile, run, server, same):
    assert tile.startswith("4 contacts, potential 0.010549 N m/s\n")
    assert len(tile.splitlines()) == 7
    same(tile, run("python3", "examples/python/first_batch.py", server))
