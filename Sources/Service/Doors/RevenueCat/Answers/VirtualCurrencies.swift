import Proofs

/// The answer of `GET /v1/subscribers/{user}/virtual_currencies`: the customer's balances.
struct VirtualCurrencies: Sendable {
    let balances: [Credit]

    init(_ balances: [Credit]) {
        self.balances = balances
    }

    var json: JSONValue {
        var currencies = JSONObject()
        for balance in balances {
            _ = currencies.add(
                balance.balance,
                .object([
                    "balance": .integer(balance.amount), "code": .string(balance.balance),
                    "name": .string(balance.balance),
                ]))
        }
        return .object(["virtual_currencies": .object(currencies)])
    }
}
