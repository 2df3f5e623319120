import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Routes for balances of consumables: read, spend and add.
struct BalanceRoutes: Sendable {
    /// The largest amount of one spending or addition.
    private static let maximumAmount = 1_000_000_000

    let service: EntitlementService
    let idempotentRequests: IdempotentRequests
    let subjects: Subjects

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.spend) { request, context in try await spend(request, context) }
        group.on(.addToBalance) { request, context in try await add(request, context) }
        group.on(.listUserBalances, .listOwnBalances) { request, context in
            let user = try subjects.user(request, context)
            let balances = try await service.limited(to: context).balances(of: user)
            return try JSONAnswer.response(List(balances))
        }
    }

    private func add(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (user, service) = (try subjects.user(request, context), service.limited(to: context))
        let caller = try context.requiredCaller
        let balance = try context.parameters.text("balance")
        let body = try await JSONBody(request, context, of: .addToBalance)
        let (amount, reason) = (try Self.amount(in: body), try Reason.read(body))
        let keys = try await service.ledger.apiKeyNames()
        return try await idempotentRequests.answer(
            request, from: caller, about: user, body: body.bytes, status: .created
        ) { pending in
            let addition = try service.newAddition(of: amount, to: balance, reason: reason, by: caller.name)
            let json = try JSONAnswer.encode(BalanceAdditionResource(addition, naming: keys))
            let answer = pending?.answer(json)
            let earlier = try await service.add(addition, for: user, keeping: answer, for: pending?.key)
            return earlier.map { .replayed($0) } ?? answer.map { .kept($0) } ?? .new(json)
        }
    }

    private static func amount(in body: JSONBody) throws(Problem) -> Int {
        let amount = try body.integer("amount")
        guard (1...maximumAmount).contains(amount) else {
            throw JSONBody.invalid("The field /amount must be a number from 1 to \(maximumAmount).")
        }
        return amount
    }

    private func spend(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (user, service) = (try subjects.user(request, context), service.limited(to: context))
        let caller = try context.requiredCaller
        let balance = try context.parameters.text("balance")
        let body = try await JSONBody(request, context, of: .spend)
        let (amount, reason) = (try Self.amount(in: body), try Reason.read(body))
        let request = try IdempotentRequests.key(of: request).map { key in
            Spending.Request(
                idempotencyKey: key, digest: IdempotentRequests.digest(of: request, body: body.bytes))
        }
        let keys = try await service.ledger.apiKeyNames()
        let spending = service.newSpending(of: amount, from: balance, reason: reason, by: caller.name, for: request)
        let spent = try await service.spend(spending, for: user)
        var headers: HTTPFields = [:]
        if spent.isRepeated, let name = IdempotentRequests.replayedHeader { headers[name] = "true" }
        return JSONAnswer.response(
            bytes: try JSONAnswer.encode(SpendingResource(spent, naming: keys)), status: .created, headers: headers)
    }
}

extension Credit: Listed {
    package static let listName = "balances"
}

/// A spending from a balance with the remaining amount.
package struct SpendingResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, named: "Spending", "A spending.").noting([
        "spendingId": "The identifier of the spending.",
        "balance": "The balance.",
        "amount": .integer("The amount to spend.", in: 1 ... .max).with(["format": "int64"]),
        "left": .integer("The amount left after the spending.", in: 0 ... .max).with(["format": "int64"]),
        "reason": "The purpose.",
        "spentBy": "The API key's identifier.",
        "spentByName": "The name of the API key; absent if the service does not have the key.",
        "spentAt": .time("The time of the spending."),
    ])

    package let spendingId: String
    package let balance: String
    package let amount: Int
    package let left: Int
    package let reason: String
    package let spentBy: String
    package let spentByName: String?
    let spentAt: String

    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ spent: SpentBalance, naming keys: [String: String]) {
        let spending = spent.spending
        spendingId = spending.identifier
        balance = spending.balance
        amount = spending.amount
        left = spent.left
        reason = spending.reason
        spentBy = spending.spentBy
        spentByName = keys[spending.spentBy]
        spentAt = spending.spentAt.rfc3339
    }
}

/// An amount that the team has added to a balance.
package struct BalanceAdditionResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(
        of: Self.self, named: "BalanceAddition", "An amount that the team has added to a balance."
    ).noting([
        "amount": .integer(in: 1 ... .max),
        "addedBy": "The API key's identifier.",
        "addedByName": "The name of the API key; absent if the service does not have the key.",
        "addedAt": .time(),
    ])

    package let id: String
    package let balance: String
    package let amount: Int
    /// The reason in the team's words.
    package let reason: String
    package let addedBy: String
    package let addedByName: String?
    package let addedAt: String

    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ addition: BalanceAddition, naming keys: [String: String]) {
        id = addition.identifier
        balance = addition.balance
        amount = addition.amount
        reason = addition.reason
        addedBy = addition.addedBy
        addedByName = keys[addition.addedBy]
        addedAt = addition.addedAt.rfc3339
    }
}

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
        body: .json([
            "amount": .integer("The amount to spend.", in: 1...1000000000),
            "reason": .text("The purpose, in the team's own words.", length: 1...500),
        ]).described("A spending."),
        answers: [.json("The spending.", SpendingResource.self, status: 201)])

    static let addToBalance = APIOperation(
        .post, "/v1/users/{user}/balances/{balance}/additions", for: .backEnd(.grant), isPerApp: true,
        "addToBalance", "Adds to a balance without a purchase, such as a compensation",
        parameters: [.idempotencyKey],
        body: .json([
            "amount": .integer("The amount to spend.", in: 1...1000000000),
            "reason": .text("The purpose, in the team's own words.", length: 1...500),
        ]).described("An addition."),
        answers: [.json("The addition.", BalanceAdditionResource.self, status: 201)])
}

extension Credit: SchemaSource {
    package static let schema = Schema(of: Credit.self, named: "Balance", "A user's balance of one consumable.").noting(
        [
            "balance": "The name of the balance in the catalog.",
            "amount": .integer("The amount left to spend.", in: 0 ... .max).with(["format": "int64"]),
        ])
}
