import HTTPSupport
import Ledger
import Testing

@Suite struct BodyBudgetTests {
    private static let total = 64 << 20
    private static let (share, free) = (16 << 20, BodyBudget.freePerBody)

    private let budget = BodyBudget(megabytes: 64)

    private func lease(_ address: String) -> BodyBudget.Lease {
        BodyBudget.Lease(budget, for: .init(network: ClientNetwork(forwarded: address)))
    }

    /// The counted bytes that addresses can hold, in bodies of a MiB, each with its free bytes.
    private func held(by addresses: [String], user: String? = nil) -> (mebibytes: Int, leases: [BodyBudget.Lease]) {
        var leases: [BodyBudget.Lease] = []
        for address in addresses {
            while true {
                let network = address.isEmpty ? nil : ClientNetwork(forwarded: address)
                let lease = BodyBudget.Lease(budget, for: .init(user: user, network: network))
                guard (try? lease.reserve(Self.free + 1 << 20)) != nil else { break }
                leases.append(lease)
            }
        }
        return (leases.count, leases)
    }

    @Test func `the first bytes of a body are free, the others are counted`() throws {
        let lease = lease("192.0.2.1")
        try lease.reserve(Self.free - 4)
        try lease.reserve(4)
        #expect(budget.bytesInFlight == 0)
        try lease.reserve(5)
        #expect(budget.bytesInFlight == 5)
    }

    @Test(arguments: [
        // A host has an eighth, but at least one proof.
        (["192.0.2.1"], 12),
        ((0..<256).map { "192.0.2.\($0)" }, 16),
        ((0..<256).map { "2001:db8:1:\(String($0, radix: 16))::1" }, 12),
        ((0..<256).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" }, 16),
    ])
    func `one site has a quarter at most`(addresses: [String], mebibytes: Int) throws {
        let held = held(by: addresses)
        #expect(held.mebibytes == mebibytes)
        try lease("198.51.100.1").reserve(Self.free + BodyBudget.largestBody)
        // A small body is accepted in any case.
        try lease(addresses[0]).reserve(Self.free)
    }

    @Test func `a site has a sixteenth at most while others hold more than half`() throws {
        let held = (1...3).map { site in self.held(by: (0..<4).map { "192.0.\(site).\($0)" }) }
        #expect(held.map(\.mebibytes) == [16, 16, 16])
        #expect(self.held(by: ["198.51.100.1", "198.51.100.2"]).mebibytes == 4)
        let others = (1...4).map { self.held(by: ["203.0.\($0).1"]) }
        #expect(others.map(\.mebibytes) == [4, 4, 4, 4])
        #expect(budget.bytesInFlight == Self.total)
        #expect(throws: (any Error).self) { try lease("203.0.113.1").reserve(Self.free + 1) }
    }

    @Test func `one user has a quarter at most, at any number of addresses`() {
        #expect(held(by: (1...5).map { "192.0.\($0).1" }, user: "alice").mebibytes == 16)
    }

    @Test func `the users of one network share its part`() {
        let held = (1...5).map { self.held(by: ["192.0.2.\($0)"], user: "user \($0)") }
        #expect(held.map(\.mebibytes).reduce(0, +) == 16)
    }

    @Test func `only the total limits a back end`() throws {
        let lease = BodyBudget.Lease(budget, for: .init())
        try lease.reserve(Self.free + Self.total)
        #expect(budget.bytesInFlight == Self.total)
        #expect(throws: (any Error).self) { try self.lease("192.0.2.1").reserve(Self.free + 1) }
    }

    @Test func `the smallest budget holds one proof of the largest size`() throws {
        let budget = BodyBudget(megabytes: 16)
        let network = ClientNetwork(forwarded: "192.0.2.1")
        try BodyBudget.Lease(budget, for: .init(user: "alice", network: network)).reserve(BodyBudget.largestBody)
    }

    @Test func `the bytes are returned at the end of the request`() throws {
        for _ in 0..<2 {
            let held = held(by: ["192.0.2.1"], user: "alice")
            #expect(budget.bytesInFlight == held.mebibytes << 20)
        }
        #expect(budget.bytesInFlight == 0)
    }
}
