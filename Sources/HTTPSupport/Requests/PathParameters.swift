import Foundation
import Hummingbird

extension Parameters {
    /// The default maximum length of a path component, in bytes of UTF-8 after decoding.
    package static let maximumLength = 256

    /// Returns a path component, percent-decoded.
    ///
    /// - Parameter maximumLength: The maximum length in bytes of UTF-8, after decoding.
    /// - Throws: `Problem` with the code `notFound` if the component is too long or contains NUL. No resource has such
    ///   a name.
    package func text(_ name: String, upTo maximumLength: Int = maximumLength) throws -> String {
        let text = try require(name)
        let decoded = text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding ?? text : text
        guard decoded.utf8.count <= maximumLength, !decoded.utf8.contains(0) else { throw Problem.pathUnknown }
        return decoded
    }
}
