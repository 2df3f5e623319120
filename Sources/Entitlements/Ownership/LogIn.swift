import Ledger
import Proofs
import Vocabulary

/// The effect of a log-in on the ids of a customer. It is pure: it uses no database.
///
/// An anonymous customer who logs in is one customer with the known one, under each ownership policy. The same purchases,
/// log-ins and notifications then lead to the same owners in any order: if the log-in comes first, the anonymous id's purchases
/// are the known customer's from the start. Known customers stay apart. The ownership policy decides about a purchase that both
/// of them present.
package enum LogInDecision: Hashable, Sendable {
    /// Both ids are already the same customer's, or those of two known customers.
    case unchanged
    /// The new id is unknown, and the current one is of another known customer. A customer is added.
    case newCustomer
    /// The current id was never used. It becomes an alias of the new id, whose customer is added if it is unknown.
    case alias
    /// The new id is unknown. The current id's customer gets its name, and the current id becomes an alias.
    case renaming(Int64)
    /// The anonymous customer becomes one with another.
    case merge(Int64, into: Int64)

    /// Two anonymous customers, of whom the smaller one becomes one with the larger one. A chain of log-ins then moves each record
    /// only a few times.
    ///
    /// - Returns: Nil unless both customers are anonymous, and the first one is larger.
    package func reversed(_ heads: [Int64: UserHead], areBothAnonymous: Bool) -> LogInDecision? {
        guard case .merge(let former, let customer) = self, areBothAnonymous, let first = heads[former],
            let second = heads[customer], first.weight > second.weight
        else { return nil }
        return .merge(customer, into: former)
    }

    /// - Parameters:
    ///   - current: The number of the customer whose id the app used before; nil for an unknown id.
    ///   - isAnonymous: True if that id is anonymous, and no known id belongs to its customer.
    ///   - customer: The number of the new id's customer; nil for an unknown id.
    ///   - isSame: True if both ids are the same.
    package init(from current: Int64?, isAnonymous: Bool, to customer: Int64?, isSame: Bool) {
        guard isAnonymous, !isSame else {
            self = customer == nil ? .newCustomer : .unchanged
            return
        }
        switch (current, customer) {
        case (nil, _): self = .alias
        case (let former?, nil): self = .renaming(former)
        case (let former?, let customer?): self = former == customer ? .unchanged : .merge(former, into: customer)
        }
    }
}

extension UserHead {
    /// A measure of a customer's records. It never falls.
    fileprivate var weight: Int64 { lastTransaction + lastGrant + auditNumber }
}

package struct LogIn: Hashable, Sendable {
    /// The largest number of records of an anonymous customer that a log-in moves. Purchases of everybody wait meanwhile.
    package static let maximumRecords = 5000

    package enum Effect: String, Sendable {
        /// The ids were already the same customer's, or they are those of two known customers. Or the anonymous id has nothing, and
        /// the customer has no room for another alias.
        case unchanged
        /// The anonymous id became a further id of the customer.
        case aliased
        /// The anonymous customer became one with the known customer.
        case merged
    }

    /// True if the new id was unknown.
    package let isNew: Bool
    package let effect: Effect
}

/// The error of a log-in. Nothing was changed.
package enum LogInError: RuledError, Equatable {
    /// The anonymous customer has too many records to move them in one commit.
    case customerTooLarge

    package var rule: ErrorRule {
        switch self {
        case .customerTooLarge:
            ErrorRule(
                "customerTooLarge", .conflict,
                "The anonymous customer has more than \(LogIn.maximumRecords) records, too many for a log-in. Nothing was "
                    + "changed. Let the team join the two ids by an import.",
                korean: "익명 고객의 기록이 \(LogIn.maximumRecords)건을 넘어 로그인할 수 없습니다. 아무것도 바꾸지 않았습니다. 두 아이디를 가져오기로 합치세요.")
        }
    }
}

/// The rule of merges.
extension EntitlementDecision {
    /// Gives all purchases of an anonymous customer to the customer who has logged in. It is no transfer to somebody else: the
    /// ownership policy, the pause between two transfers and spent credits do not hinder it.
    ///
    /// - Parameters:
    ///   - former: The number of the anonymous customer. The facts have all its purchases.
    ///   - identifier: The anonymous id, for the audit log.
    package mutating func merge(_ former: Int64, into user: Int64, identifier: String, by actor: AuditActor) {
        let purchases = facts.purchases.filter { $0.value.owner == former }.keys.sorted()
        for original in purchases {
            let product = lastProduct(of: original)
            change(purchase: original) { $0.owner = user }
            changes.transferred.append(original)
            audit(.transferredOut, original, product, by: actor, to: former)
            audit(.transferredIn, original, product, by: actor, to: user, reason: identifier)
        }
        facts.tokenOwners = facts.tokenOwners.mapValues { $0 == former ? user : $0 }
        facts.tokensHaveMoved()
    }
}

/// The SQL that moves grants and balances to another user, inside the caller's transaction.
///
/// The movements of a balance note the customer of whom they were (`merged_from`), so that a debt of that customer lowers no
/// other balance.
extension LedgerTransaction {
    /// Notes that the movements of a user's balances are of a time before the user's id was known.
    private func separateBalances(of user: Int64) throws {
        for table in ["credit", "balance_addition", "spending"] {
            try database.execute(
                "UPDATE \(table) SET merged_from = user_id WHERE user_id = $1 AND merged_from IS NULL", [user])
        }
    }

    /// Moves grants, which become the newest of the other user.
    private func moveGrants(of former: Int64, to user: Int64) throws {
        guard try database.hasRow("SELECT 1 FROM team_grant WHERE user_id = $1 LIMIT 1", [former]) else { return }
        guard var head = try users.heads(of: [user])[user] else {
            throw BrokenInvariant("a user to whom grants move has a head", "\(user)")
        }
        try database.moveRows(of: "team_grant", from: former, to: user, changing: ["sequence"]) { _ in
            head.lastGrant += 1
            return [head.lastGrant]
        }
        try users.write([user: head])
    }

    private func moveAdditions(of former: Int64, to user: Int64) throws {
        try database.moveRows(of: "balance_addition", from: former, to: user, changing: ["merged_from"]) { row in
            [try row.next() as Int64? ?? former]
        }
    }

    /// Moves spendings. Of two under one idempotency key, the other user's keeps the key.
    private func moveSpendings(of former: Int64, to user: Int64) throws {
        let moved: [String] = try database.rows(
            "SELECT idempotency_key FROM spending WHERE user_id = $1 AND idempotency_key IS NOT NULL", [former]
        ) { try $0.next() }
        let taken = Set(
            try moved.isEmpty
                ? []
                : database.rows(
                    "SELECT idempotency_key FROM spending WHERE user_id = $1 AND idempotency_key \(database.isIn("$2"))",
                    [user, database.list(eachOf: moved)]
                ) { ByteKey(try $0.next()) })
        try database.moveRows(
            of: "spending", from: former, to: user, changing: ["merged_from", "idempotency_key", "request_digest"]
        ) { row in
            let (customer, key): (Int64?, String?) = (try row.next(), try row.next())
            let digest: [UInt8]? = try row.next()
            let isTaken = key.map { taken.contains(ByteKey($0)) } ?? false
            return [customer ?? former, isTaken ? nil : key, isTaken ? nil : digest]
        }
    }
}

extension LedgerTransaction {
    /// Logs a customer in: an anonymous id and the new id become one customer, with all purchases, grants and balances of both.
    /// Two known customers stay apart; then the ownership policy decides about a purchase that both present.
    ///
    /// A second log-in changes nothing. Log-ins, redemptions and notifications lead to the same owners in any order.
    ///
    /// - Parameters:
    ///   - current: The id that the app used before.
    ///   - new: The id from now on.
    ///   - maximumRecords: The largest number of records to move.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit. Beyond it, nothing is written.
    /// - Throws: `LedgerError.userBlocked` if the new id stands for no user; `LedgerError.userUnknown` if it is an account that
    ///   was never opened, or was erased; `LogInError`.
    package func logIn(
        _ current: User,
        as new: User,
        upTo maximumRecords: Int = LogIn.maximumRecords,
        by actor: AuditActor,
        newcomers: NewcomerAllowance? = nil,
        at moment: Timestamp
    ) throws -> LogIn {
        try requireName(of: new)
        let (former, known) = (try users.known(current), try users.known(new))
        let names = try users.names(of: Set([former, known].compactMap(\.self)))
        let name = former.flatMap { names[$0] } ?? current
        let decision = LogInDecision(
            from: former, isAnonymous: current.isAnonymousCustomer && name.isAnonymousCustomer, to: known,
            isSame: current == new)
        var effect = LogIn.Effect.unchanged
        if let newcomers, try isLimited(decision, to: new, known),
            newcomers.take(NewcomerAllowance.bytes(ofUserNamed: current, new)) != nil
        {
            return LogIn(isNew: known == nil, effect: effect)
        }
        switch decision {
        case .unchanged: break
        case .newCustomer: _ = try number(of: new, at: moment)
        case .alias:
            if try addUnusedAlias(current, of: new, by: actor, at: moment) { effect = .aliased }
        case .renaming(let customer):
            guard new.issuer != User.accountIssuer else { throw LedgerError.userUnknown }
            _ = try recordCount(of: customer, upTo: maximumRecords)
            try users.rename(customer, from: name, to: new.issuer, new.name)
            try users.addNewestAlias(name, of: customer, at: moment)
            try separateBalances(of: customer)
            try audit.append(AuditEntry(aliasedBy: actor, name, at: moment), to: customer)
            effect = .aliased
        case .merge(let first, let second):
            let areBothAnonymous = names[second]?.isAnonymousCustomer ?? false
            let heads = areBothAnonymous ? try users.heads(of: [first, second]) : [:]
            guard
                case .merge(let former, let customer) =
                    decision.reversed(heads, areBothAnonymous: areBothAnonymous) ?? decision
            else { break }
            let hasRecords = try recordCount(of: former, upTo: maximumRecords) > 0
            // A stranger could make any number of customers without purchases part of a known one.
            guard try hasRecords || users.aliasesLeft(of: customer) > 0 else { break }
            try merge(former, names[former] ?? current, into: customer, by: actor, at: moment)
            effect = .merged
        }
        return LogIn(isNew: known == nil, effect: effect)
    }

    /// True if a log-in needs an allowance: it writes something, and its customer has no purchase and no gift afterwards, or is as
    /// anonymous as before. One purchase could otherwise go through any number of anonymous ids.
    ///
    /// - Parameter known: The number of the new id's customer; nil for an unknown id.
    private func isLimited(_ decision: LogInDecision, to new: User, _ known: Int64?) throws -> Bool {
        let customers: Set<Int64>
        switch decision {
        case .unchanged: return false
        case .newCustomer: return true
        case .alias: customers = Set([known].compactMap(\.self))
        case .renaming(let customer):
            guard !new.isAnonymousCustomer else { return true }
            customers = [customer]
        case .merge(let former, let customer): customers = [former, customer]
        }
        return try !customers.contains(where: hasPurchases) && !haveGifts(customers)
    }

    /// True if the team has given any of the customers something, or an import expects a purchase of one.
    private func haveGifts(_ customers: Set<Int64>) throws -> Bool {
        try ["team_grant", "balance_addition", "expected_purchase"].contains { table in
            try database.hasRow(
                "SELECT user_id FROM \(table) WHERE user_id \(database.isIn(numbers: "$1")) LIMIT 1",
                [database.list(customers.sorted())])
        }
    }

    /// The number of records that a merge moves.
    ///
    /// - Throws: `LogInError.customerTooLarge`.
    private func recordCount(of user: Int64, upTo limit: Int) throws -> Int {
        let count = try mergedRecordCount(of: user, upTo: limit)
        guard count <= limit else { throw LogInError.customerTooLarge }
        return count
    }

    /// Makes an id that no customer has an alias of a customer, who is added if unknown.
    ///
    /// - Returns: False if the customer has as many aliases as possible. The id stays unknown.
    /// - Throws: `LedgerError.userUnknown` if the customer is an account that was never opened, or was erased.
    func addUnusedAlias(_ alias: User, of user: User, by actor: AuditActor, at moment: Timestamp) throws -> Bool {
        try requireName(of: alias)
        let customer = try number(of: user, at: moment)
        guard try users.aliasesLeft(of: customer) > 0 else { return false }
        try users.addAlias(alias, of: customer, at: moment)
        try audit.append(AuditEntry(aliasedBy: actor, alias, at: moment), to: customer)
        return true
    }

    private func merge(
        _ former: Int64,
        _ name: User,
        into customer: Int64,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws {
        let apps = try apps
        let records = EntitlementRecords(database: database, apps: apps)
        var before = try records.facts(ofPurchases: try records.originals(of: former))
        if before.haveFixedPeriods { try records.readFixedPeriods(of: [former, customer], into: &before) }
        // The names come first: the former customer is a tombstone then, whose audit records concern nobody any more.
        let tombstone = try mergeNames(of: former, name, into: customer, at: moment)
        var decision = before.decision(at: moment)
        decision.merge(former, into: customer, identifier: name.name, by: actor)
        decision.extendFixedPeriods()
        try EntitlementChangeRecords(transaction: self, apps: apps, before: before, decision: decision).write()
        // Everything but the purchases, whose credits move with them.
        try moveGrants(of: former, to: customer)
        try moveAdditions(of: former, to: customer)
        try moveSpendings(of: former, to: customer)
        try ExpectedTransactionRecords(database: database, apps: apps).redirect(of: former, to: customer)
        try mergeRows(of: former, into: customer)
        try audit.append(
            AuditEntry(aliasedBy: actor, name, tombstone: tombstone, at: moment), to: customer)
    }

    /// The ids that became a user's by log-ins, in their order, without the user's own name.
    package func aliases(of user: User) throws -> [User] {
        try aliases(of: user, limit: UserRecords.maximumAliases)
    }

    /// The first ids that became a user's by log-ins.
    package func aliases(of user: User, limit: Int) throws -> [User] {
        guard let number = try users.known(user) else { return [] }
        return try users.aliases(of: number, limit: limit)
    }
}

extension AuditEntry {
    /// - Parameters:
    ///   - user: The id that became an alias.
    ///   - tombstone: The name of the tombstone of a merged customer; nil if the id had no customer of its own.
    fileprivate init(aliasedBy actor: AuditActor, _ user: User, tombstone: String? = nil, at moment: Timestamp) {
        // The id is the user's data, so it is the erasable part.
        self.init(
            happenedAt: moment, event: .aliased, actor: actor, origin: nil, reference: tombstone ?? "",
            subject: tombstone == nil ? "id" : "customer", reason: user.name)
    }
}
