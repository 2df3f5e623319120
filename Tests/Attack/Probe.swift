import NIOCore

/// A request sent at intervals while an attack runs.
struct Probe: Sendable {
    /// The longest wait for an answer; a probe without one in time has this latency.
    static let limit = TimeAmount.seconds(5)

    let name: String
    let interval: TimeAmount
    /// The requests, sent in turn.
    let requests: [ByteBuffer]
    /// True if the first request is also sent before the attack.
    let isWarmedUp: Bool
    /// The status of a good answer.
    let status: Int
    let extent: Answer.Extent

    init(
        _ name: String,
        every interval: TimeAmount,
        expecting status: Int,
        until extent: Answer.Extent = .whole,
        _ requests: [ByteBuffer],
        isWarmedUp: Bool = true
    ) {
        self.name = name
        self.interval = interval
        self.requests = requests
        self.status = status
        self.extent = extent
        self.isWarmedUp = isWarmedUp
    }

    static let redemptionName = "redemption"

    /// A liveness check.
    static let health = Probe(
        "health", every: .milliseconds(20), expecting: 204,
        [.request("GET", "/health/live", fields: ["Connection": "close"])])

    /// Redemptions of genuine transactions, each a new one.
    static func redemption(_ fixture: AttackFixture) throws -> Probe {
        let requests = try (1...60).map { number in
            ByteBuffer.request(
                "POST", "/v1/users/probe/transactions",
                fields: ["Authorization": "Bearer \(fixture.key)", "Connection": "close"],
                json: "{\"signedTransaction\":\"\(try AttackFixture.transaction(number))\"}")
        }
        return Probe(redemptionName, every: .seconds(1), expecting: 200, requests)
    }

    /// Purchases at the door with the app's public key, each of a new transaction.
    ///
    /// - Parameter customer: Returns the customer, given the number of the purchase.
    static func purchase(_ fixture: AttackFixture, by customer: (Int) -> String) throws -> Probe {
        let requests = try (1...60).map { number in
            fixture.door.receipt(try AttackFixture.transaction(1000 + number), of: customer(number))
        }
        return Probe("purchase", every: .milliseconds(500), expecting: 200, requests)
    }
}
