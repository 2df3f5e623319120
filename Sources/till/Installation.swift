import Foundation

/// The folders that come with the running program.
enum Installation {
    /// The catalog's folder.
    static var products: URL { folders.products }

    /// The certificates that the user trusts; nil if there is no such folder.
    static var keys: URL? { folders.keys }

    private static var folders: InstalledFolders {
        InstalledFolders(
            executable: Bundle.main.executableURL?.resolvingSymlinksInPath(),
            currentDirectory: URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory))
    }
}
