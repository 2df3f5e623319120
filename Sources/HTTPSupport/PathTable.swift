import HTTPTypes

/// Values by the methods and paths of requests. A segment of a path in braces stands for any.
///
/// It is made once. Most requests have none of its paths, so a look-up stops at the first segment that differs.
package struct PathTable<Value: Sendable>: Sendable {
    package typealias Entry = (method: HTTPRequest.Method, path: String, value: Value)

    /// A position in paths, after some of their segments.
    private struct Position: Sendable {
        /// The following positions, by the bytes of the segment before them.
        var named: [(segment: [UInt8], position: Int)] = []
        /// The position after any other segment; nil if no path goes on.
        var unnamed: Int?
        /// The values of the paths that end here.
        var values: [(method: HTTPRequest.Method, value: Value)] = []
    }

    private static var separator: UInt8 { UInt8(ascii: "/") }

    private var positions = [Position()]

    /// - Parameter entries: The values, each with another method or path.
    package init(_ entries: [Entry]) {
        for entry in entries {
            let segments = entry.path.utf8.split(separator: Self.separator)
            let end = segments.reduce(0) { position($0, followedBy: Array($1)) }
            positions[end].values.append((entry.method, entry.value))
        }
    }

    /// The position after a segment, added if it is missing.
    private mutating func position(_ position: Int, followedBy segment: [UInt8]) -> Int {
        let isNamed = segment.first != UInt8(ascii: "{")
        let known =
            isNamed
            ? positions[position].named.first { $0.segment == segment }?.position : positions[position].unnamed
        if let known { return known }
        positions.append(Position())
        let added = positions.count - 1
        if isNamed {
            positions[position].named.append((segment, added))
        } else {
            positions[position].unnamed = added
        }
        return added
    }

    /// The value of a request. Empty segments are ignored, as by the router.
    package func value(of method: HTTPRequest.Method, at path: String) -> Value? {
        var path = path
        return path.withUTF8 { value(of: method, at: $0[...], from: positions[0]) }
    }

    private func value(
        of method: HTTPRequest.Method, at path: Slice<UnsafeBufferPointer<UInt8>>, from position: Position
    ) -> Value? {
        let path = path.drop { $0 == Self.separator }
        let segment = path.prefix { $0 != Self.separator }
        guard !segment.isEmpty else { return position.values.first { $0.method == method }?.value }
        let rest = path[segment.endIndex...]
        for (name, next) in position.named where name.elementsEqual(segment) {
            if let value = value(of: method, at: rest, from: positions[next]) { return value }
        }
        return position.unnamed.flatMap { value(of: method, at: rest, from: positions[$0]) }
    }
}
