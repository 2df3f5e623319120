import Catalog
import Ledger
import Proofs
import Vocabulary

/// A request for a decision: the claims of a user's proof, or a statement of a store.
package enum ClaimRequest: Sendable {
    case redeem(PresentedClaims)
    /// - stating: Nil for a notification without a transaction.
    case notify(NotificationRecord, stating: Claim?)
    case state(Claim)

    var claims: [Claim] {
        switch self {
        case .redeem(let presented): presented.claims
        case .notify(_, let claim): claim.map { [$0] } ?? []
        case .state(let claim): [claim]
        }
    }

    var apps: [String] {
        if case .notify(let notification, _) = self { return [notification.app] }
        return claims.map(\.app)
    }

    /// The claims that a user presents; nil for a statement.
    var presented: PresentedClaims? { if case .redeem(let presented) = self { presented } else { nil } }
}

package struct PresentedClaims: Sendable {
    package internal(set) var claims: [Claim]
    package let user: User
    /// The origins that are valid for the user, for the items in the answer.
    let origins: Set<Origin>
    let actor: AuditActor
    /// Nil to keep no answer.
    package var keeping: AnswerKeeping?
    /// The limit of the caller, for the items in the answer; nil for a caller of all apps.
    package var limit: AppLimit?
    /// The caller's allowance for users without a purchase; nil for no limit.
    package var newcomers: NewcomerAllowance?
    /// False for an answer without items.
    package var withItems = true
    /// The reason for which the team assigns the purchases; nil if the user presents them.
    var assignment: String?

    package init(_ claims: [Claim], for user: User, accepting origins: Set<Origin>, by actor: AuditActor) {
        (self.claims, self.user, self.origins, self.actor) = (claims, user, origins, actor)
    }
}

package enum ClaimAnswer: Sendable {
    case redeemed(LedgerAnswer)
    case recorded(NotificationOutcome)
    /// The account does not exist, or was erased.
    case userUnknown
    /// The answer stored for an earlier request under the same idempotency key. Nothing was changed.
    case kept(KeptAnswer)
}

/// The answer to store under an idempotency key, in the commit of its claims.
package struct AnswerKeeping: Sendable {
    package let key: IdempotencyKey
    /// The time of the oldest valid answers. Older ones are deleted.
    let oldest: Timestamp
    /// Returns the bytes to store; nil stores nothing.
    let make: @Sendable (ClaimAnswer) -> KeptAnswer?

    package init(key: IdempotencyKey, oldest: Timestamp, make: @escaping @Sendable (ClaimAnswer) -> KeptAnswer?) {
        (self.key, self.oldest, self.make) = (key, oldest, make)
    }
}

/// The results of a user's claims, and the items of the user after them, from the same commit.
package struct LedgerAnswer: Hashable, Sendable {
    /// The results of the claims, in their order.
    package let results: [Redemption.Result]
    /// Empty if the request is for none.
    package let items: [Item]
}

/// Claims in parts, so that a request with many purchases does not hold the one writer of the ledger.
extension EntitlementService {
    /// The number of claims after which a request goes on in the next commit. All claims of a purchase share a commit: a period can
    /// replace another one.
    package static let claimsOfCommit = 1000

    /// Answers a request to redeem, in one commit for each part.
    ///
    /// A request that fails in between has redeemed its first parts. Sent again, it redeems the others.
    ///
    /// - Throws: `StorageFault`.
    package func answer(_ presented: PresentedClaims) async throws -> ClaimAnswer {
        let sent = presented.claims
        guard sent.count > Self.claimsOfCommit else { return try await claims.answer(.redeem(presented)) }
        func answer(_ part: [Int], keeping: AnswerKeeping? = nil) async throws -> ClaimAnswer {
            var presented = presented
            (presented.claims, presented.keeping) = (part.map { sent[$0] }, keeping)
            return try await claims.answer(.redeem(presented))
        }
        let parts = Self.parts(of: sent)
        var results: [Int: Redemption.Result] = [:]
        for part in parts.dropLast() {
            guard case .redeemed(let answer) = try await answer(part) else { return .userUnknown }
            results.merge(zip(part, answer.results)) { $1 }
        }
        // The answer to all parts. The items are those after the last one.
        let (places, last) = (sent.indices, parts[parts.count - 1])
        let whole = { @Sendable [results] (answer: ClaimAnswer) -> ClaimAnswer in
            guard case .redeemed(let redeemed) = answer else { return answer }
            let all = results.merging(zip(last, redeemed.results)) { $1 }
            return .redeemed(LedgerAnswer(results: places.compactMap { all[$0] }, items: redeemed.items))
        }
        let keepingWhole = presented.keeping.map { keeping in
            AnswerKeeping(key: keeping.key, oldest: keeping.oldest) { keeping.make(whole($0)) }
        }
        return whole(try await answer(last, keeping: keepingWhole))
    }

    /// The places of the claims in each part, in order.
    private static func parts(of claims: [Claim]) -> [[Int]] {
        var parts: [[Int]] = [[]]
        for places in Dictionary(grouping: claims.indices, by: { claims[$0].originalKey }).values.sorted(
            by: { ($0.first ?? 0) < ($1.first ?? 0) })
        {
            if parts[parts.count - 1].count + places.count > claimsOfCommit, !parts[parts.count - 1].isEmpty {
                parts.append([])
            }
            parts[parts.count - 1] += places
        }
        return parts
    }
}

extension LedgerTransaction {
    /// Decides requests in their order, each after the changes of those before it, and writes the changes.
    ///
    /// - Parameter type: Returns the type of a product, for transactions without a stated type.
    /// - Returns: The answers in the order of the requests.
    package func decide(
        _ requests: [ClaimRequest],
        under policy: OwnershipPolicy,
        claimingErasedAfter days: Int64 = OwnershipPolicy.defaultErasedClaimDays,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp,
        type: (String) -> ProductType? = { _ in nil }
    ) throws -> [ClaimAnswer] {
        try ClaimGroup(
            transaction: self, policy: policy, erasedClaimDays: days, accepted: accepted, moment: moment
        ).answer(requests, type: type)
    }
}

/// A group of requests that are read, decided and written together, inside the caller's transaction.
struct ClaimGroup {
    let transaction: LedgerTransaction
    let policy: OwnershipPolicy
    let erasedClaimDays: Int64
    let accepted: AcceptedOrigins
    let moment: Timestamp

    private var database: any LedgerDatabase { transaction.database }
    private var users: UserRecords { transaction.users }

    /// - Returns: The answers in the order of the requests.
    func answer(_ requests: [ClaimRequest], type: (String) -> ProductType?) throws -> [ClaimAnswer] {
        let wanted = Set(requests.compactMap(\.presented?.user).filter { !transaction.blockedNames.contains($0) })
        let claims = requests.flatMap(\.claims)
        let productIdentifiers = Set(claims.map { ByteKey($0.productIdentifier) })
        try database.prefetch(
            [AppRecords.known] + (wanted.isEmpty ? [] : [users.knownUsers(wanted)])
                + (claims.contains { $0.fingerprints != nil } ? [ChainRecords.known] : [])
                + (claims.isEmpty ? [] : [ProductRecords.known(productIdentifiers, in: database)])
                + EntitlementRecords.queries(about: claims, in: database), asksForTables: true)
        let apps = try database.apps.numbers(of: Set(requests.flatMap(\.apps)))
        let chains = try ChainRecords(database: database).known(to: claims)
        let products = try database.products.numbers(of: productIdentifiers)
        var facts = try EntitlementRecords(database: database, apps: apps).facts(about: claims)
        let statements = requests.filter { $0.presented == nil }.flatMap(\.claims)
        let expected = claims.filter { facts.expectedOwners[$0.originalKey] != nil }
        try readOrigins(of: statements + expected, into: &facts)
        let newcomers = NewcomerClaims(requests)
        var numbers = try users.known(among: wanted)
        let unknown = wanted.filter { numbers[$0] == nil }
        let strangers = newcomers.strangers(among: unknown)
        numbers.merge(try users.add(unknown.filter { strangers[$0] == nil }, at: moment)) { $1 }
        if facts.haveFixedPeriods || claims.contains(where: { $0.period != nil }) {
            let owners = facts.purchases.values.map(\.owner) + facts.tokenOwners.values + facts.expectedOwners.values
            try EntitlementRecords(database: database, apps: apps)
                .readFixedPeriods(of: Set(owners + numbers.values), into: &facts)
        }
        try readErased(besides: Set(numbers.values), isPresented: !wanted.isEmpty, into: &facts)
        let notifications = NotificationRecords(database: database, apps: apps)
        let keptAnswers = transaction.answers
        let kept = try keptAnswers.answers(for: requests.compactMap(\.presented?.keeping).map { ($0.key, $0.oldest) })
        let earlier = try notifications.known(among: requests)

        func decide(for numbers: [User: Int64]) -> Decisions {
            for (user, number) in numbers { facts.acceptedOriginsByUser[number] = accepted.origins(for: user) }
            let decision = facts.decision(
                under: policy, claimingErasedAfter: erasedClaimDays, accepting: accepted.origins, at: moment)
            var decisions = Decisions(decision: decision, known: earlier.known, kept: kept)
            decisions.decide(requests, for: numbers)
            return decisions
        }
        var decisions = decide(for: numbers.merging(strangers) { $1 })
        let excluded = try newcomers.excluded(
            by: decisions.decided.map(\.results), in: decisions.decision.facts,
            RefusalRecords(database: database, apps: apps), transaction.hasPurchases)
        let admitted = Set(strangers.filter { !excluded.contains($0.value) }.keys)
        if !admitted.isEmpty {
            numbers.merge(try users.add(admitted, at: moment)) { $1 }
            decisions = decide(for: strangers.merging(numbers) { $1 })
        }
        decisions.decision.removeRefusals(of: excluded)
        decisions.decision.extendFixedPeriods()
        decisions.decision.recordStates(type: type)
        try notifications.insert(decisions.received, at: moment)
        try notifications.learnExternalPurchases(of: decisions.received, at: moment)
        try notifications.note(repeated: decisions.repeated.subtracting(earlier.repeated), at: moment)
        try EntitlementChangeRecords(
            transaction: transaction, apps: apps, chains: chains, products: products, before: facts,
            decision: decisions.decision
        ).write()
        let answers = try answers(decisions.decided)
        try keptAnswers.keep(
            zip(requests, answers).compactMap { request, answer in
                guard let presented = request.presented, let keeping = presented.keeping, kept[keeping.key] == nil,
                    let number = numbers[presented.user], let kept = keeping.make(answer),
                    // A purchase that is redeemed again changes nothing, so its answer need not be kept.
                    try transaction.admits(kept, about: number, presented.newcomers)
                else { return nil }
                return (kept, number)
            }, at: moment)
        return answers
    }

    /// Adds the further origins of the users that the App Store's statements and expected purchases may reach.
    private func readOrigins(of claims: [Claim], into facts: inout EntitlementFacts) throws {
        guard claims.contains(where: { !accepted.origins.contains($0.origin) }) else { return }
        let reached = Set(
            facts.purchases.values.map(\.owner) + facts.tokenOwners.values + facts.expectedOwners.values)
        for (number, user) in try users.names(of: reached) {
            facts.acceptedOriginsByUser[number] = accepted.origins(for: user)
        }
    }

    /// Adds the erased owners of purchases that others present, and the erased users of tokens who own none of the purchases.
    private func readErased(
        besides users: Set<Int64>, isPresented: Bool, into facts: inout EntitlementFacts
    ) throws {
        let owners = Set(facts.purchases.values.map(\.owner))
        let others = Set(facts.tokenOwners.values).subtracting(owners).union(isPresented ? owners : [])
        facts.erasedOwners = try self.users.erased(among: others.subtracting(users))
    }

    /// The decisions about the requests, each after the changes of those before it.
    private struct Decisions {
        var decision: EntitlementDecision
        /// The notifications that were received before.
        var known: Set<NotificationRecord.Key>
        let kept: [IdempotencyKey: KeptAnswer]
        private(set) var decided: [Decided] = []
        private(set) var received: [NotificationRecords.Received] = []
        private(set) var repeated: Set<NotificationRecord.Key> = []

        mutating func decide(_ requests: [ClaimRequest], for numbers: [User: Int64]) {
            decided = requests.map { decide($0, for: numbers) }
        }

        private mutating func decide(_ request: ClaimRequest, for numbers: [User: Int64]) -> Decided {
            decision.presented = request.claims
            switch request {
            case .redeem(let presented):
                if let keeping = presented.keeping, let answer = kept[keeping.key] { return .kept(answer) }
                guard let number = numbers[presented.user] else { return .userUnknown }
                let results = presented.claims.map { claim in
                    presented.assignment.map {
                        decision.assign(claim, to: number, reason: $0, by: presented.actor)
                    } ?? decision.redeem(claim, for: number, by: presented.actor)
                }
                return .redeemed(results, number, presented.withItems ? presented.origins : nil, presented.limit)
            case .state(let claim):
                return .recorded(decision.state(claim))
            case .notify(let notification, let claim):
                guard known.insert(notification.key).inserted else {
                    repeated.insert(notification.key)
                    return .recorded(.duplicate)
                }
                let outcome = claim.map { decision.state($0) } ?? .recorded
                received.append((notification, claim, outcome))
                return .recorded(outcome)
            }
        }
    }

    private enum Decided {
        /// The results, the number of the user, and the origins and the limit of the items in the answer; nil origins for none.
        case redeemed([Redemption.Result], Int64, Set<Origin>?, AppLimit?)
        case recorded(NotificationOutcome)
        case userUnknown
        case kept(KeptAnswer)

        /// The number of the user and the results; nil without results.
        var results: (user: Int64, results: [Redemption.Result])? {
            if case .redeemed(let results, let user, _, _) = self { (user, results) } else { nil }
        }
    }

    /// The answers, with the items of each user after all changes of the group.
    private func answers(_ decided: [Decided]) throws -> [ClaimAnswer] {
        var origins: [Int64: Set<Origin>] = [:]
        for case .redeemed(_, let user, let accepted?, nil) in decided { origins[user] = accepted }
        let records = ReadingRecords(database: database)
        let items = try records.items(of: origins, at: moment)
        return try decided.map { decided in
            switch decided {
            case .redeemed(let results, _, nil, _): .redeemed(LedgerAnswer(results: results, items: []))
            case .redeemed(let results, let user, let accepted?, let limit?):
                .redeemed(
                    LedgerAnswer(
                        results: results,
                        items: try records.items(of: [user: accepted], seeing: limit, at: moment)[user] ?? []))
            case .redeemed(let results, let user, _, nil):
                .redeemed(LedgerAnswer(results: results, items: items[user] ?? []))
            case .recorded(let outcome): .recorded(outcome)
            case .userUnknown: .userUnknown
            case .kept(let answer): .kept(answer)
            }
        }
    }
}

/// The users of a group for whom only limited callers present claims.
///
/// A user who owns a purchase after the decision is not limited. For the others, a new user and the refusals are written only
/// within the allowance of the caller.
struct NewcomerClaims {
    private let requests: [ClaimRequest]
    /// The allowances by the user: that of the first caller.
    private let allowances: [User: NewcomerAllowance]

    init(_ requests: [ClaimRequest]) {
        var allowances: [User: NewcomerAllowance] = [:]
        var unlimited: Set<User> = []
        for request in requests {
            guard let presented = request.presented else { continue }
            if let newcomers = presented.newcomers {
                allowances[presented.user] = allowances[presented.user] ?? newcomers
            } else {
                unlimited.insert(presented.user)
            }
        }
        self.requests = requests
        self.allowances = allowances.filter { !unlimited.contains($0.key) }
    }

    /// The users who get a number only if something is written for them, with numbers for the decision alone. These are negative.
    func strangers(among unknown: Set<User>) -> [User: Int64] {
        let strangers = unknown.filter { allowances[$0] != nil && $0.issuer != User.accountIssuer }
        return Dictionary(uniqueKeysWithValues: zip(strangers, (1...).lazy.map { -Int64($0) }))
    }

    /// Takes the bytes of refusals from the allowances.
    ///
    /// - Parameters:
    ///   - results: The number of the user and the results for each request; nil for a request without results.
    ///   - facts: The facts after the decision.
    /// - Returns: The numbers of the users for whom nothing is written.
    func excluded(
        by results: [(user: Int64, results: [Redemption.Result])?],
        in facts: EntitlementFacts,
        _ records: RefusalRecords,
        _ hasPurchases: (Int64) throws -> Bool
    ) throws -> Set<Int64> {
        guard !allowances.isEmpty else { return [] }
        let owners = Set(facts.purchases.values.map(\.owner))
        var users: [(number: Int64, user: User, newcomers: NewcomerAllowance)] = []
        var refusals: [Int64: [Refusal]] = [:]
        // Another request of the group may have moved the purchase on.
        var granted: Set<Int64> = []
        for (request, result) in zip(requests, results) {
            guard let user = request.presented?.user, let newcomers = allowances[user], let (number, results) = result,
                !owners.contains(number)
            else { continue }
            if results.contains(where: \.allowsFinish) { granted.insert(number) }
            if refusals[number] == nil { users.append((number, user, newcomers)) }
            refusals[number, default: []] += zip(request.claims, results).filter { !$1.allowsFinish }
                .map { Refusal(number, $0, $1) }
        }
        users.removeAll { granted.contains($0.number) }
        var recorded = try records.known(
            among: users.filter { $0.number > 0 }.flatMap { refusals[$0.number] ?? [] })
        return Set(
            try users.filter { number, user, newcomers in
                let count = (refusals[number] ?? []).count { recorded.insert($0) }
                guard count > 0 else { return true }
                if number > 0, try hasPurchases(number) { return false }
                let bytes =
                    count * NewcomerAllowance.bytesOfRefusal
                    + (number < 0 ? NewcomerAllowance.bytes(ofUserNamed: user) : 0)
                return newcomers.take(bytes) != nil
            }.map(\.number))
    }
}

extension NewcomerAllowance {
    /// The bytes that a recorded refusal takes in the ledger with its audit record, about.
    static let bytesOfRefusal = 512
}

/// The rule of all that strangers write: it is charged, unless the user has a purchase.
extension LedgerTransaction {
    /// Takes the bytes that are written for a user from the caller's allowance, unless the user has a purchase.
    ///
    /// - Parameters:
    ///   - user: The user's number.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `LedgerError.newcomersLimited` if they are not available.
    package func charge(_ bytes: Int, for user: Int64, to newcomers: NewcomerAllowance?) throws {
        guard let newcomers, bytes > 0, try !hasPurchases(user) else { return }
        try newcomers.charge(bytes)
    }

    /// Takes the bytes of an answer that is kept about a user in the same way.
    ///
    /// - Returns: False if the answer may not be kept.
    package func admits(_ answer: KeptAnswer, about user: Int64, _ newcomers: NewcomerAllowance?) throws -> Bool {
        do {
            // The key, its caller and the digest of the request come with the answer.
            try charge(512 + answer.bytes.count, for: user, to: newcomers)
            return true
        } catch LedgerError.newcomersLimited {
            return false
        }
    }
}
