import Foundation

/// The project's own folders, for tests that read shipped files.
package enum Project {
    package static let root = URL(filePath: #filePath, directoryHint: .notDirectory)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    package static let products = root.appending(path: "Products", directoryHint: .isDirectory)

    /// - Parameter path: The path from the project's root.
    package static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path, directoryHint: .notDirectory), encoding: .utf8)
    }

    /// The paths of a folder's files, from the project's root.
    package static func files(_ folder: String, suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(
            atPath: root.appending(path: folder, directoryHint: .isDirectory).path
        ).filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".build/") }.map { "\(folder)/\($0)" }
    }
}
