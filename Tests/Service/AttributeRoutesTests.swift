import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing

@Suite struct AttributeRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private static let body = """
        {"attributes": [{"name": "$email", "value": "mint@example.com"},
        {"name": "level", "value": "7", "statedAt": "2026-01-31T12:00:00Z"},
        {"name": "color", "value": null}]}
        """

    private func attributes(key: String? = nil) async throws -> [AttributeResource] {
        let answer = try await fixture.send(.get, "/v1/users/alice/attributes", key: key)
        #expect(answer.status == 200)
        return try answer.decoded(List<AttributeResource>.self).elements
    }

    @Test func `a back end states attributes and reads them`() async throws {
        #expect(try await attributes().isEmpty)
        #expect(try await fixture.send(.put, "/v1/users/alice/attributes", body: Self.body).status == 204)
        let now = fixture.shop.clock.now().rfc3339
        let stated = try await attributes()
        #expect(stated.map(\.name) == ["$email", "level"])
        #expect(stated.map(\.value) == ["mint@example.com", "7"])
        #expect(stated.map(\.statedAt) == [now, "2026-01-31T12:00:00Z"])
        let older = #"{"attributes": [{"name": "level", "value": "6", "statedAt": "2026-01-30T12:00:00Z"}]}"#
        #expect(try await fixture.send(.put, "/v1/users/alice/attributes", body: older).status == 204)
        #expect(try await attributes().map(\.value) == ["mint@example.com", "7"])
    }

    @Test func `reserved attributes are for keys that may export them`() async throws {
        _ = try await fixture.send(.put, "/v1/users/alice/attributes", body: Self.body)
        let reader = try await fixture.keys.make(name: "reader", scopes: [.read]).key
        #expect(try await attributes(key: reader).map(\.name) == ["level"])
        let exporter = try await fixture.keys.make(name: "exporter", scopes: [.read, .export]).key
        #expect(try await attributes(key: exporter).map(\.name) == ["$email", "level"])
    }

    @Test func `the export of personal data has the attributes, and erasure deletes them`() async throws {
        _ = try await fixture.send(.put, "/v1/users/alice/attributes", body: Self.body)
        let archive = try await fixture.send(.get, "/v1/users/alice/export").decoded(UserArchiveResource.self)
        #expect(archive.attributes.map(\.name) == ["$email", "level"])
        #expect(try await fixture.send(.post, "/v1/users/alice/erasure").status == 204)
        #expect(try await attributes().isEmpty)
    }

    @Test(arguments: [
        ("{}", 400, "bodyInvalid"), (#"{"attributes": []}"#, 400, "bodyInvalid"),
        (#"{"attributes": [{"name": "level"}]}"#, 400, "bodyInvalid"),
        (#"{"attributes": [{"name": "level", "value": 7}]}"#, 400, "bodyInvalid"),
        (#"{"attributes": [{"name": "level", "value": "7", "statedAt": "soon"}]}"#, 400, "bodyInvalid"),
        (#"{"attributes": [{"name": "", "value": "7"}]}"#, 422, "attributeNameInvalid"),
    ])
    func `an invalid statement is refused`(body: String, status: Int, code: String) async throws {
        let answer = try await fixture.send(.put, "/v1/users/alice/attributes", body: body)
        #expect(answer.status == status)
        #expect(answer.code == code)
    }

    @Test func `more names than a customer may have are refused`() async throws {
        func body(_ names: Range<Int>) -> String {
            let statements = names.map { #"{"name": "name\#($0)", "value": "1"}"# }
            return #"{"attributes": [\#(statements.joined(separator: ","))]}"#
        }
        #expect(try await fixture.send(.put, "/v1/users/alice/attributes", body: body(0..<100)).status == 204)
        let refused = try await fixture.send(.put, "/v1/users/alice/attributes", body: body(100..<101))
        #expect(refused.status == 422)
        #expect(refused.code == "attributesTooMany")
        #expect(try await fixture.send(.put, "/v1/users/alice/attributes", body: body(0..<101)).code == "bodyInvalid")
    }
}
