import Proofs

/// A time-based one-time code of six digits (RFC 6238, with HMAC-SHA-1 and steps of 30 seconds, as authenticator apps
/// expect).
package enum OneTimeCode {
    /// The length of a new secret, in bytes: the output of SHA-1 (RFC 4226 section 4, R6).
    package static let secretLength = 20
    /// The length of a step, in seconds.
    static let stepLength: Int64 = 30
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The step of an accepted code; nil for a wrong or used one.
    ///
    /// - Parameters:
    ///   - text: The code as a person typed it. Spaces do not matter.
    ///   - last: The step of the last accepted code. Codes up to it are refused.
    package static func step(of text: String, secret: [UInt8], at moment: Timestamp, after last: Int64?) -> Int64? {
        guard text.utf8.count <= 16 else { return nil }
        let digits = Array(text.utf8.filter { $0 != UInt8(ascii: " ") })
        let now = moment.secondsSince1970 / stepLength
        // Clocks differ, and a code takes some seconds to type (RFC 6238 section 5.2).
        return (now - 1...now + 1).first { step in
            step > last ?? -1 && ConstantTime.areEqual(Array(code(at: step, secret: secret).utf8), digits)
        }
    }

    package static func code(at step: Int64, secret: [UInt8]) -> String {
        let counter = step.bytes
        let hash = MessageAuthentication.hmac(.sha1, of: counter, secret: secret)
        let offset = Int(hash[hash.count - 1] & 0xF)
        let number = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The secret in base32 (RFC 4648 section 6), for a person to type.
    package static func text(of secret: [UInt8]) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in secret {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt32(count)) & 31])
            }
            bits &= (1 << UInt32(count)) - 1
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count)) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }
}
