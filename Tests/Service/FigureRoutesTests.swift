import Foundation
import HTTPSupport
import HTTPTypes
import Service
import TestSupport
import Testing

/// Figures over HTTP.
@Suite struct FigureRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    /// Redeems a purchase of the shop, and updates the sums.
    private func sell(_ product: String, to account: String = "alice") async throws {
        let bought = try fixture.buy(product, account: account)
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        let redeemed = try await fixture.send(
            .post, "/v1/users/\(account)/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
        #expect(redeemed.status == 200)
        try await fixture.figures.rollUp()
    }

    private func figure(_ name: String, _ query: String = "") async throws -> FigureAnswerResource {
        try await fixture.send(.get, "/v1/figures/\(name)?\(query)").decoded()
    }

    @Test func `the list has each figure with its definition`() async throws {
        let list = try await fixture.send(.get, "/v1/figures").decoded(List<FigureResource>.self)
        #expect(list.elements.contains { $0.figure == "mrr" && $0.kind == "level" && $0.isMoney })
        for figure in list.elements {
            let answer = try await fixture.send(.get, "/v1/figures/\(figure.figure)")
            #expect(answer.status == 200, "\(figure.figure)")
            #expect(try answer.decoded(FigureAnswerResource.self).figure == figure.figure)
        }
    }

    @Test func `sandbox sales appear only in the sandbox`() async throws {
        try await sell("sprout1")
        let today = try #require(try await figure("units").periods.last)
        #expect(!today.isComplete)
        #expect(try await figure("units").series.flatMap(\.values).reduce(0, +) == 0)
        let answer = try await figure("units", "environment=sandbox&group=product")
        #expect(answer.periods.count == 28)
        #expect(answer.series.map(\.group) == ["com.memolease.sesac1.sprout1"])
        #expect(answer.series.first?.values.last == 1)
        #expect(answer.pendingUsers == 0)
        let stores = try await figure("units", "environment=sandbox&group=store&store=app_store")
        #expect(stores.series.map(\.group) == ["app_store"])
        #expect(
            try await figure("units", "environment=sandbox&store=play_store").series.allSatisfy {
                Set($0.values) == [0]
            })
        let day = "from=\(today.from)&to=\(today.to)&environment=sandbox"
        #expect(try await figure("new-customers", day).series.map(\.values) == [[1]])
    }

    @Test(arguments: [
        ("none", 404, "figureUnknown"), ("units?by=year", 400, "parameterInvalid"),
        ("units?from=yesterday", 400, "parameterInvalid"), ("units?group=user", 400, "parameterInvalid"),
        ("units?environment=apple", 400, "parameterInvalid"), ("units?store=apple", 400, "parameterInvalid"),
        ("units?from=2026-02-01&to=2026-01-01", 400, "figureTimeInvalid"),
        ("units?from=9999-01-01&to=9999-01-02", 400, "figureTimeInvalid"),
        ("units?from=1970-01-01", 400, "figurePointsTooMany"),
        ("units?group=storefront&product=p", 400, "figureBreakdownUnknown"),
        ("arppu?product=p", 400, "figureBreakdownUnknown"), ("retention?group=app", 400, "figureBreakdownUnknown"),
    ])
    func `a question that makes no sense is refused`(path: String, status: Int, code: String) async throws {
        let answer = try await fixture.send(.get, "/v1/figures/\(path)")
        #expect((answer.status, answer.code) == (status, code))
    }

    @Test func `a key needs the scope`() async throws {
        let key = try await fixture.keys.make(name: "other", scopes: [.read, .export]).key
        #expect(try await fixture.send(.get, "/v1/figures", key: key).code == "scopeMissing")
        #expect(try await fixture.send(.get, "/v1/figures/units", key: key).code == "scopeMissing")
        let allowed = try await fixture.keys.make(name: "figures", scopes: [.figures]).key
        #expect(try await fixture.send(.get, "/v1/figures/units", key: allowed).status == 200)
    }
}
