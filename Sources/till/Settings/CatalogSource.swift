import Catalog
import Foundation

/// The place of a catalog: a folder, or the program, which has the sample catalog.
///
/// The files of the sample are those of `Products`, to which links in `Resources` lead.
enum CatalogSource: Sendable, CustomStringConvertible {
    case folder(URL)
    case sample

    /// Nil for the sample catalog.
    var folder: URL? {
        if case .folder(let folder) = self { folder } else { nil }
    }

    var description: String { folder?.path ?? "the catalog that comes with Till" }

    /// Reads the catalog.
    ///
    /// - Throws: `CatalogError`, which names the option for a folder without a catalog.
    func catalog() throws(CatalogError) -> Catalog {
        guard let folder else {
            return try Catalog(
                storeKit: PackageResources.Sample_storekit, items: PackageResources.SampleItems_json,
                pictures: Self.samplePictures, named: description)
        }
        let file = folder.file(Catalog.configurationFile)
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw CatalogError(
                file: file.path, reason: "the file is missing. Name the folder of your catalog with --catalog")
        }
        return try Catalog(folder: folder)
    }

    /// The pictures of the sample catalog, by the names of their files.
    static let samplePictures: [(name: String, bytes: [UInt8])] = [
        ("background-0.svg", PackageResources.background_0_svg),
        ("background-1.svg", PackageResources.background_1_svg),
        ("background-2.svg", PackageResources.background_2_svg),
        ("background-3.svg", PackageResources.background_3_svg),
        ("background-4.svg", PackageResources.background_4_svg),
        ("background-5.svg", PackageResources.background_5_svg),
        ("background-6.svg", PackageResources.background_6_svg),
        ("background-7.svg", PackageResources.background_7_svg),
        ("sprout-0.svg", PackageResources.sprout_0_svg), ("sprout-1.svg", PackageResources.sprout_1_svg),
        ("sprout-2.svg", PackageResources.sprout_2_svg), ("sprout-3.svg", PackageResources.sprout_3_svg),
        ("sprout-4.svg", PackageResources.sprout_4_svg),
    ]
}
