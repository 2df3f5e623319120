import Foundation
import Hummingbird

extension Parameters {
    /// The longest part of a path, in bytes of UTF-8 after decoding.
    private static let maximumLength = 256

    /// A part of the path, percent-decoded.
    ///
    /// - Throws: `Problem`, `notFound`, for a part that no resource has as its name: too long, or with a NUL.
    package func text(_ name: String) throws -> String {
        let text = try require(name)
        let decoded = text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding ?? text : text
        guard decoded.utf8.count <= Self.maximumLength, !decoded.utf8.contains(0) else { throw Problem.pathUnknown }
        return decoded
    }
}
