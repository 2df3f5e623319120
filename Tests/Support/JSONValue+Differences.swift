import Proofs

extension JSONValue {
    /// The differences from an expected value, each with its path (RFC 6901) and both values. The order of members does not
    /// matter; the order of elements does.
    package func differences(from expected: JSONValue) -> [String] { differences(from: expected, at: "") }

    private func differences(from expected: JSONValue, at path: String) -> [String] {
        switch (self, expected) {
        case (.object(let found), .object(let expected)):
            let keys = Set((found.keys + expected.keys).map { ByteKey($0) }).sorted().map(\.text)
            return keys.flatMap { key in
                let escaped = key.replacing("~", with: "~0").replacing("/", with: "~1")
                return Self.differences(found[key], from: expected[key], at: "\(path)/\(escaped)")
            }
        case (.array(let found), .array(let expected)):
            return (0..<max(found.count, expected.count)).flatMap { index in
                Self.differences(
                    index < found.count ? found[index] : nil, from: index < expected.count ? expected[index] : nil,
                    at: "\(path)/\(index)")
            }
        default:
            let (found, expected) = (compactText, expected.compactText)
            return found.hasSameBytes(as: expected) ? [] : ["\(path): \(found) instead of \(expected)"]
        }
    }

    private static func differences(_ found: JSONValue?, from expected: JSONValue?, at path: String) -> [String] {
        switch (found, expected) {
        case (let found?, let expected?): found.differences(from: expected, at: path)
        case (let found?, nil): ["\(path): \(found.compactText) instead of nothing"]
        case (nil, let expected?): ["\(path): nothing instead of \(expected.compactText)"]
        case (nil, nil): []
        }
    }
}
