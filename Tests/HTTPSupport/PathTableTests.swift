import HTTPSupport
import HTTPTypes
import Testing

@Suite struct PathTableTests {
    private static let paths = [
        "/v1/subscribers/{user}", "/v1/subscribers/identify", "/v1/subscribers/{user}/offers", "v1/health",
        "/v1/subscribers/{user}/restore/eligibility", "/{any}/identify/end",
    ]

    /// Compares segment by segment, in the order of the paths.
    private static func first(_ path: String) -> String? {
        let segments = path.split(separator: "/")
        return paths.first { known in
            let known = known.split(separator: "/")
            return known.count == segments.count && zip(known, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
    }

    @Test func `a path is found as by comparing all of them`() {
        let table = PathTable(Self.paths.map { (.get, $0, $0) })
        let segments = ["v1", "subscribers", "identify", "offers", "restore", "eligibility", "health", "end", "v", ""]
        var found: Set<String> = []
        for number in 0..<100_000 {
            // The digits of the number choose the segments.
            let path = "/" + String(number).compactMap(\.wholeNumberValue).map { segments[$0] }.joined(separator: "/")
            let expected = Self.first(path)
            // Both a name and the parameter match here. The name counts, as in the router.
            let names = path.split(separator: "/").joined(separator: "/")
            guard expected != Self.paths[0] || !names.contains("subscribers/identify") else { continue }
            let value = table.value(of: .get, at: path[...])
            #expect(value == expected, "\(path)")
            if let value { found.insert(value) }
        }
        #expect(found.count > 3)
    }

    @Test func `a method has values of its own`() {
        let table = PathTable([
            (HTTPRequest.Method.post, "/v1/names/first", 1), (.get, "/v1/names/{name}", 2), (.get, "/v1/names", 3),
        ])
        #expect(table.value(of: .post, at: "/v1/names/first") == 1)
        #expect(table.value(of: .get, at: "/v1/names/first") == 2)
        #expect(table.value(of: .get, at: "//v1/names//") == 3)
        #expect(table.value(of: .post, at: "/v1/names") == nil)
        #expect(table.value(of: .get, at: "") == nil)
        #expect(table.value(of: .get, at: "/v1/names/first/more") == nil)
    }
}
