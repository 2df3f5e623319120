import Proofs

/// Typed access to the claims of a token (RFC 7519 section 4).
package struct TokenClaims: Sendable {
    /// A claim is missing or of another type.
    package struct Malformed: Error {}

    private let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    package func text(_ name: String) throws(Malformed) -> String {
        guard case .string(let text) = object[name] else { throw Malformed() }
        return text
    }

    /// The audiences of `aud`, which is a string or an array of strings (RFC 7519 section 4.1.3).
    package func audiences() throws(Malformed) -> [String] {
        guard case .array(let elements) = object["aud"] else { return [try text("aud")] }
        var audiences: [String] = []
        for element in elements {
            guard case .string(let audience) = element else { throw Malformed() }
            audiences.append(audience)
        }
        return audiences
    }

    /// A NumericDate (RFC 7519 section 2), in seconds since 1970.
    package func date(_ name: String) throws(Malformed) -> Double {
        guard case .number(let number) = object[name], let seconds = number.double else { throw Malformed() }
        return seconds
    }

    /// A NumericDate that may be missing or null.
    package func optionalDate(_ name: String) throws(Malformed) -> Double? {
        switch object[name] {
        case nil, .null: nil
        default: try date(name)
        }
    }
}
