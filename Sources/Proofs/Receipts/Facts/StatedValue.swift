/// The value of a fact. A date is in milliseconds since 1970. True is 1 and false is 0.
public enum StatedValue: Hashable, Sendable, Codable {
    case integer(Int64)
    case text(String)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .integer(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }
}

/// Orders integers by value and strings by bytes. Integers precede strings.
extension StatedValue: Comparable {
    public static func < (left: StatedValue, right: StatedValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)): ByteKey(left) < ByteKey(right)
        case (.integer, .text): true
        case (.text, .integer): false
        }
    }
}
