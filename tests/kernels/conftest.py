"""What tests of the twins share."""

import pytest


@pytest.fixture(params=["batched", "each"])
def events(request):
    return request.param
