import Foundation
import Proofs

/// The account tokens (`appAccountToken`) that the plugin gives the purchases of a customer.
///
/// Anybody can compute them, and anybody can choose an id whose token is that of another id. So they are compared, and never
/// recorded as a customer's.
package enum UsernameTokens {
    /// The tokens that follow from an id. The plugin uses the second with `store.obfuscator = "disabled"`.
    ///
    /// It hashes characters above ASCII in a way of its own, so that Till derives no token from them.
    package static func tokens(of username: String) -> [UUID] {
        [username.utf8.allSatisfy { $0 < 0x80 } ? hashed(username) : nil, UUID(uuidString: username)].compactMap(\.self)
    }

    /// The token in a request (`obfuscatedUsername`): a UUID, or its digits; nil for another text.
    package static func token(_ text: String) -> UUID? {
        guard text.utf8.count == 32 else { return UUID(uuidString: text) }
        return uuid(text)
    }

    /// The MD5 of an id with the version 3 and a variant of RFC 9562.
    private static func hashed(_ username: String) -> UUID? {
        guard var digest = MD5.digest(of: Array(username.utf8)) else { return nil }
        digest[6] = 0x30 | digest[6] & 0x0F
        digest[8] = 0x80 | digest[8] & 0x0F
        return uuid(digest.hexadecimal)
    }

    private static func uuid(_ digits: String) -> UUID? {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return UUID(uuidString: text)
    }
}
