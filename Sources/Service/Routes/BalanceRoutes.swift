import Entitlements
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// Routes for balances of consumables: read, spend and add.
struct BalanceRoutes: OperationGroup {
    /// The largest amount of one spending or addition.
    fileprivate static let maximumAmount = 1_000_000_000

    static let tag = OperationTag(
        "Balances", "The balances of consumables, and their spending.",
        [.listUserBalances, .listOwnBalances, .spend, .addToBalance])
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.spend) { request, context in try await spend(request, context) }
        group.on(.addToBalance) { request, context in try await add(request, context) }
        group.on(.listUserBalances, .listOwnBalances) { request, context in
            let user = try subjects.user(request, context)
            let balances = try await service.limited(to: context).balances(of: user)
            let isEmpty = balances.allSatisfy { $0.amount == 0 }
            let unknown = isEmpty ? try await subjects.unknown(user, to: context, in: service.ledger) : nil
            return try List(balances, of: unknown).answer()
        }
    }

    private func add(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (user, service) = (try subjects.user(request, context), service.limited(to: context))
        let caller = try context.requiredCaller
        let balance = try context.parameters.text("balance")
        let body = try await JSONBody(request, context, of: .addToBalance)
        let (amount, reason) = (try Self.amount(in: body), try Reason.read(body))
        return try await subjects.idempotentRequests.answer(request, context, about: user, body: body) {
            try service.newAddition(of: amount, to: balance, reason: reason, by: caller.name)
        } recording: {
            try await service.add($0, for: user, keeping: $1)
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
        return try spent.answer(naming: keys, status: .created, headers: headers)
    }
}

extension SpentBalance: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A spending.", named: "Spending") {
        $0.field("spendingId", "The identifier of the spending.", \.spending.identifier)
        $0.field("balance", "The balance.", \.spending.balance)
        $0.field(
            "amount", .integer("The amount to spend.", in: 1 ... .max).with(["format": "int64"]), \.spending.amount)
        $0.field(
            "left", .integer("The amount left after the spending.", in: 0 ... .max).with(["format": "int64"]), \.left)
        $0.field("reason", "The purpose.", \.spending.reason)
        $0.field("spentBy", "The API key's identifier.", \.spending.spentBy)
        $0.keyName("spentByName", \.spending.spentBy)
        $0.field("spentAt", "The time of the spending.", \.spending.spentAt)
    }
}

extension BalanceAddition: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "An amount that the team has added to a balance.", named: "BalanceAddition"
    ) {
        $0.field("id", \.identifier)
        $0.field("balance", \.balance)
        $0.field("amount", .integer(in: 1 ... .max), \.amount)
        $0.field("reason", \.reason)
        $0.field("addedBy", "The API key's identifier.", \.addedBy)
        $0.keyName("addedByName", \.addedBy)
        $0.field("addedAt", \.addedAt)
    }
}

extension APIOperation {
    static let listUserBalances = APIOperation(
        .get, "/v1/users/{user}/balances", for: .backEnd(.read), isPerApp: true,
        "listUserBalances", "Lists the user's balances",
        answers: [.list("The user's balances, all of the catalog, by name.", of: Credit.self).aboutUser])

    static let listOwnBalances = listUserBalances.own("listOwnBalances")

    private static let amountAndReason = HTTPSupport.RequestBody.json([
        "amount": .integer("The amount to spend.", in: 1...BalanceRoutes.maximumAmount),
        "reason": .text("The purpose, in the team's own words.", length: 1...Reason.maximumLength),
    ])

    static let spend = APIOperation(
        .post, "/v1/users/{user}/balances/{balance}/spendings", for: .backEnd(.spend), isPerApp: true,
        "spend", "Spends from a balance, never more than it holds",
        parameters: [.idempotencyKey],
        body: amountAndReason.described("A spending."),
        answers: [.json("The spending.", SpentBalance.self, status: 201)])

    static let addToBalance = APIOperation(
        .post, "/v1/users/{user}/balances/{balance}/additions", for: .backEnd(.grant), isPerApp: true,
        "addToBalance", "Adds to a balance without a purchase, such as a compensation",
        parameters: [.idempotencyKey],
        body: amountAndReason.described("An addition."),
        answers: [.json("The addition.", BalanceAddition.self, status: 201)])
}
