import Foundation
import Hummingbird

extension Parameters {
    /// A part of the path, as who asked meant it.
    func text(_ name: String) throws -> String {
        let text = try require(name)
        let meant = text.removingPercentEncoding ?? text
        // Nothing has such a name, and not every database takes it.
        guard !meant.utf8.contains(0) else { throw HTTPError(.notFound) }
        return meant
    }
}
