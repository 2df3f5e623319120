import Foundation
import TestSupport
import Testing
import Wire

/// The JSON of the wire types.
@Suite struct RoundTripTests {
    private func content(_ json: Data) throws -> JSONContent {
        try JSONDecoder().decode(JSONContent.self, from: json)
    }

    @Test(arguments: WireExample.all)
    func `a decoded value encodes to the same JSON`(example: WireExample) throws {
        let encoded = try example.recode(example.json)
        #expect(try content(encoded) == content(example.json))
        #expect(try content(example.recode(encoded)) == content(example.json))
    }

    @Test func `each wire type has an example`() throws {
        let types = try Project.files("Sources/Wire", suffix: ".swift").map { path in
            path.split(separator: "/").last.map { String($0.dropLast(".swift".count)) } ?? path
        }
        #expect(Set(WireExample.all.map(\.typeName)) == Set(types))
    }
}
