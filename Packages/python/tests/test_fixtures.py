"""Each fixture is a server of its own: every test of these runs eight times at once, with the same names and other times."""

import pytest
from conftest import PACKAGE
from till_iap import Play, Refusal, Service, Store

MONTHLY = "garden.premium.monthly"
# Days that each copy of a test moves its clock by.
MOVES = pytest.mark.parametrize("days", range(40, 48))


@MOVES
def test_a_store_has_its_own_sales_and_clock(till_store: Store, days: int) -> None:
    assert till_store.sales("alice") == []
    before = till_store.now()
    till_store.buy(MONTHLY, account="alice")
    till_store.advance(f"{days}d")
    assert till_store.now() > before
    first, second = till_store.sales("alice")
    assert first["expiresDate"] == second["purchaseDate"]
    till_store.refund(second["transactionId"])
    assert "revocationDate" in till_store.sales("alice")[1]


@MOVES
def test_a_play_has_its_own_sales_and_clock(till_play: Play, days: int) -> None:
    assert till_play.subscriptions("alice") == []
    till_play.subscribe(MONTHLY, account="alice", package=PACKAGE)
    (bought,) = till_play.subscriptions("alice")
    till_play.advance("2d")
    # A purchase that no server acknowledges in three days is refunded.
    assert till_play.subscriptions("alice")[0]["state"] == "active"
    till_play.advance(f"{days}d")
    assert till_play.subscriptions("alice")[0]["state"] == "expired"
    assert bought["number"] == 1


@MOVES
def test_a_service_follows_purchase_renewal_and_refund_at_both_stores(till_service: Service, days: int) -> None:
    ends: dict[str, str] = {}
    for user, store in (("alice", "appStore"), ("bob", "play")):
        till_service.buy(MONTHLY, user=user, store=store)
        (bought,) = till_service.subscriptions(user)
        assert bought["state"] == "active"
        ends[user] = bought["until"]

    till_service.advance(f"{days}d")
    for user, end in ends.items():
        expect(till_service, user, "active", after=end)
        assert [item["collection"] for item in till_service.items(user)] == ["plus"]

    till_service.store.refund(till_service.store.sales("alice")[-1]["transactionId"])
    till_service.play.change(1, "refund")
    for user in ends:
        expect(till_service, user, "revoked")
        assert till_service.items(user) == []


def test_a_reset_leaves_nothing_of_users_and_keeps_the_key(till_service: Service) -> None:
    for _ in range(2):
        till_service.buy(MONTHLY, user="alice")
        till_service.buy(MONTHLY, user="bob", store="play_store")
        till_service.advance("40d")
        till_service.eventually(lambda: len(till_service.items("bob")) == 1)
        till_service.reset()
        for user in ("alice", "bob"):
            assert till_service.items(user) == []
            assert till_service.subscriptions(user) == []
        assert till_service.store.sales("alice") == []
        assert till_service.play.subscriptions("bob") == []


def expect(service: Service, user: str, state: str, after: str = "") -> None:
    """Waits for the state of the user's subscription, and for an end after this one."""

    def holds() -> bool:
        (subscription,) = service.subscriptions(user)
        return subscription["state"] == state and str(subscription["until"]) > after

    service.eventually(holds)


def test_a_refusal_has_its_problem(till_store: Store) -> None:
    with pytest.raises(Refusal) as refusal:
        till_store.buy("garden.moon", account="alice")
    assert refusal.value.status in (404, 422)
    assert refusal.value.problem["code"] in str(refusal.value)


def test_a_service_has_the_options_of_the_suite(till_service: Service) -> None:
    assert till_service.call("GET", "/v1/figures/revenue")["figure"] == "revenue"
