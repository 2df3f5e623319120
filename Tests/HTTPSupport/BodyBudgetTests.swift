import HTTPSupport
import Testing

@Suite struct BodyBudgetTests {
    private static let total = 16 << 20
    /// The limit of one caller, and the bytes of a body that are not counted.
    private static let (perCaller, free) = (BodyBudget.largestBody, BodyBudget.freePerBody)

    private let budget = BodyBudget(megabytes: 16)

    @Test func `the first bytes of a body are free, the others are counted`() throws {
        let lease = BodyBudget.Lease(budget, for: "a")
        try lease.reserve(Self.free - 4)
        try lease.reserve(4)
        #expect(budget.bytesInFlight == 0)
        try lease.reserve(5)
        #expect(budget.bytesInFlight == 5)
    }

    @Test func `each caller and the total are limited`() throws {
        let (first, second, third) = (
            BodyBudget.Lease(budget, for: "a"), BodyBudget.Lease(budget, for: "a"), BodyBudget.Lease(budget, for: "b")
        )
        try first.reserve(Self.free + Self.perCaller - 10)
        #expect(throws: (any Error).self) { try second.reserve(Self.free + 11) }
        try third.reserve(Self.free + Self.total - Self.perCaller)
        #expect(budget.bytesInFlight == Self.total - 10)
        let fourth = BodyBudget.Lease(budget, for: "c")
        #expect(throws: (any Error).self) { try fourth.reserve(Self.free + 11) }
        // A small body is accepted in any case.
        try BodyBudget.Lease(budget, for: "d").reserve(Self.free)
        #expect(budget.bytesInFlight == Self.total - 10)
    }

    @Test func `only the total limits a back end`() throws {
        let lease = BodyBudget.Lease(budget, for: nil)
        try lease.reserve(Self.free + Self.total)
        #expect(budget.bytesInFlight == Self.total)
        #expect(throws: (any Error).self) { try BodyBudget.Lease(budget, for: "a").reserve(Self.free + 1) }
    }

    @Test func `the smallest budget holds one proof of the largest size`() throws {
        try BodyBudget.Lease(budget, for: "a").reserve(BodyBudget.largestBody)
    }

    @Test func `the bytes are returned at the end of the request`() throws {
        do {
            let lease = BodyBudget.Lease(budget, for: "a")
            try lease.reserve(Self.free + Self.perCaller)
            #expect(budget.bytesInFlight == Self.perCaller)
        }
        #expect(budget.bytesInFlight == 0)
        try BodyBudget.Lease(budget, for: "a").reserve(Self.free + Self.perCaller)
    }
}
