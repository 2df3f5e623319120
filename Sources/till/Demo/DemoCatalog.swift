import Catalog
import Foundation

/// The catalog of the demonstration: the sample catalog, with seeds and subscriptions.
enum DemoCatalog {
    static let prefix = "com.memolease.sesac1."

    /// Writes the catalog into a folder, with the pictures of the sample catalog if it is installed.
    static func write(into folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(PackageResources.Till_storekit).write(to: folder.appending(path: Catalog.configurationFile))
        try Data(PackageResources.Items_json).write(to: folder.appending(path: Catalog.itemsFile))
        let pictures = Installation.products.appending(path: "Art", directoryHint: .isDirectory)
        if pictures.isExistingFolder {
            try FileManager.default.copyItem(
                at: pictures, to: folder.appending(path: "Art", directoryHint: .isDirectory))
        }
    }
}
