import Foundation

/// The folders that come with Till: `Products/` and `Keys/`.
enum Installation {
    /// The catalog's folder.
    static var products: URL { folder("Products") }

    /// The certificates that the user trusts.
    static var keys: URL { folder("Keys") }

    /// Looked for in the current directory first, then beside the executable and in the folders above it, as `.build` lies
    /// in the project.
    ///
    /// - Returns: The one in the current directory, when there is none at all.
    private static func folder(_ name: String) -> URL {
        let current = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
        var candidates = [current]
        var parent = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        while let folder = parent, folder.path != "/" {
            candidates.append(folder)
            parent = folder.deletingLastPathComponent()
        }
        let folders = candidates.map { $0.appending(path: name, directoryHint: .isDirectory) }
        return folders.first { FileManager.default.fileExists(atPath: $0.path) } ?? folders[0]
    }
}
