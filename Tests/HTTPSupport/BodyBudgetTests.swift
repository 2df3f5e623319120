import HTTPSupport
import Testing

@Suite struct BodyBudgetTests {
    private let budget = BodyBudget(.init(total: 100, perCaller: 60, freePerBody: 10))

    @Test func `the first bytes of a body are free, the others are counted`() throws {
        let lease = budget.lease(for: "a")
        try lease.reserve(6)
        try lease.reserve(4)
        #expect(budget.bytesInFlight == 0)
        try lease.reserve(5)
        #expect(budget.bytesInFlight == 5)
    }

    @Test func `each caller and the total are limited`() throws {
        let (first, second, third) = (budget.lease(for: "a"), budget.lease(for: "a"), budget.lease(for: "b"))
        try first.reserve(60)
        #expect(throws: (any Error).self) { try second.reserve(21) }
        try third.reserve(50)
        #expect(budget.bytesInFlight == 90)
        let fourth = budget.lease(for: "c")
        #expect(throws: (any Error).self) { try fourth.reserve(21) }
        // A small body is accepted in any case.
        try budget.lease(for: "d").reserve(10)
        #expect(budget.bytesInFlight == 90)
    }

    @Test func `only the total limits a back end`() throws {
        let lease = budget.lease(for: nil)
        try lease.reserve(110)
        #expect(budget.bytesInFlight == 100)
        #expect(throws: (any Error).self) { try budget.lease(for: "a").reserve(11) }
    }

    @Test func `the smallest budget holds one proof of the largest size`() throws {
        let budget = BodyBudget(.init(megabytes: 16))
        try budget.lease(for: "a").reserve(BodyBudget.Limits.largestBody)
    }

    @Test func `the bytes are returned at the end of the request`() throws {
        do {
            let lease = budget.lease(for: "a")
            try lease.reserve(70)
            #expect(budget.bytesInFlight == 60)
        }
        #expect(budget.bytesInFlight == 0)
        try budget.lease(for: "a").reserve(70)
    }
}
