import Foundation

/// The project's own folders, for tests that read what is shipped.
public enum Project {
    public static let root = URL(filePath: #filePath, directoryHint: .notDirectory)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    public static let products = root.appending(path: "Products", directoryHint: .isDirectory)
}
