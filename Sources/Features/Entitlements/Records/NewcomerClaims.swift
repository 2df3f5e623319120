import Ledger
import Proofs

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
            guard let user = request.user else { continue }
            if let newcomers = request.newcomers {
                allowances[user] = allowances[user] ?? newcomers
            } else {
                unlimited.insert(user)
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
        _ records: RefusalRecords
    ) throws -> Set<Int64> {
        guard !allowances.isEmpty else { return [] }
        let owners = Set(facts.purchases.values.map(\.owner))
        var users: [(number: Int64, user: User, newcomers: NewcomerAllowance)] = []
        var refusals: [Int64: [Refusal]] = [:]
        // Another request of the group may have moved the purchase on.
        var granted: Set<Int64> = []
        for (request, result) in zip(requests, results) {
            guard let user = request.user, let newcomers = allowances[user], let (number, results) = result,
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
        let customers = CustomerRecords(database: records.database)
        return Set(
            try users.filter { number, user, newcomers in
                let count = (refusals[number] ?? []).count { recorded.insert($0) }
                guard count > 0 else { return true }
                if number > 0, try customers.hasPurchases(number) { return false }
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
