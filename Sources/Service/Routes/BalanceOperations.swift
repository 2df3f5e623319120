import Features
import HTTPSupport
import Proofs

extension APIOperation {
    static let balances = [
        listUserBalances, listOwnBalances, spend, addToBalance,
    ]

    static let listUserBalances = APIOperation(
        .get, "/v1/users/{user}/balances", for: .backEnd(.read), isPerApp: true,
        "listUserBalances", "Lists the user's balances",
        answers: [.list("The user's balances, all of the catalog, by name.", of: Credit.self)])

    static let listOwnBalances = listUserBalances.own("listOwnBalances")

    static let spend = APIOperation(
        .post, "/v1/users/{user}/balances/{balance}/spendings", for: .backEnd(.spend), isPerApp: true,
        "spend", "Spends from a balance, never more than it holds",
        parameters: [.idempotencyKey],
        body: .json(
            "A spending.",
            [
                "amount": .integer("The amount to spend.", in: 1...1000000000),
                "reason": .text("The purpose, in the team's own words.", length: 1...500),
            ]),
        answers: [.json("The spending.", SpendingResource.self, status: 201)])

    static let addToBalance = APIOperation(
        .post, "/v1/users/{user}/balances/{balance}/additions", for: .backEnd(.grant), isPerApp: true,
        "addToBalance", "Adds to a balance without a purchase, such as a compensation",
        parameters: [.idempotencyKey],
        body: .json(
            "An addition.",
            [
                "amount": .integer("The amount to spend.", in: 1...1000000000),
                "reason": .text("The purpose, in the team's own words.", length: 1...500),
            ]),
        answers: [.json("The addition.", BalanceAdditionResource.self, status: 201)])
}

extension Credit: SchemaSource {
    package static let schema = Schema(
        of: Credit.self, named: "Balance", "A user's balance of one consumable.",
        [
            "balance": "The name of the balance in the catalog.",
            "amount": .integer("The amount left to spend.", in: 0 ... .max).with(["format": "int64"]),
        ])
}

extension SpendingResource: SchemaSource {
    package static let schema = Schema(
        of: SpendingResource.self, named: "Spending", "A spending.",
        [
            "spendingId": "The identifier of the spending.",
            "balance": "The balance.",
            "amount": .integer("The amount to spend.", in: 1 ... .max).with(["format": "int64"]),
            "left": .integer("The amount left after the spending.", in: 0 ... .max).with(["format": "int64"]),
            "reason": "The purpose.",
            "spentBy": "The API key's identifier.",
            "spentByName": "The name of the API key; absent if the service does not have the key.",
            "spentAt": .time("The time of the spending."),
        ])
}

extension BalanceAdditionResource: SchemaSource {
    package static let schema = Schema(
        of: BalanceAdditionResource.self, named: "BalanceAddition", "An amount that the team has added to a balance.",
        [
            "amount": .integer(in: 1 ... .max),
            "addedBy": "The API key's identifier.",
            "addedByName": "The name of the API key; absent if the service does not have the key.",
            "addedAt": .time(),
        ])
}
