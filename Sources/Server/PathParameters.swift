import Foundation
import Hummingbird

extension Parameters {
    /// A part of the path, as who asked meant it.
    func text(_ name: String) throws -> String {
        let text = try require(name)
        return text.removingPercentEncoding ?? text
    }
}
