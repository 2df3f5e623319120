import Foundation
import TestSupport
import Testing
import till

/// The search for the catalog and for trusted certificates, in folders as a package installs them.
@Suite struct InstalledFoldersTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The folders of an executable at this path of the test's folder, run in `current`.
    private func installed(_ executable: String?) -> InstalledFolders {
        var folders = InstalledFolders()
        folders.executable = executable.map { folder.file($0) }
        folders.currentDirectory = folder.folder("current")
        return folders
    }

    private func make(_ files: String...) throws {
        for file in files.map(folder.file) {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("{}".utf8).write(to: file)
        }
    }

    @Test func `a packaged executable has the sample catalog and the keys of its prefix`() throws {
        try make("current/Products/Till.storekit", "Products/Till.storekit", "usr/etc/till/Products/Till.storekit")
        let till = installed("usr/bin/till")
        #expect(till.products?.path == folder.folder("current/Products").path)
        try make("usr/share/till/Products/Till.storekit")
        #expect(till.products?.path == folder.folder("usr/share/till/Products").path)
        #expect(till.keys?.path == folder.folder("usr/share/till/Keys").path)
    }

    @Test func `a project's own catalog comes before all others`() throws {
        try make(
            "project/Package.swift", "project/Products/Till.storekit",
            "project/.build/share/till/Products/Till.storekit")
        #expect(installed("project/.build/bin/till").products?.path == folder.folder("project/Products").path)
    }

    @Test func `an executable outside of bin has no share folder`() throws {
        try make("opt/share/till/Products/Till.storekit", "current/Products/Till.storekit")
        let till = installed("opt/till/till")
        #expect(till.products?.path == folder.folder("current/Products").path)
        #expect(till.keys == nil)
    }

    @Test func `certificates of the current directory are never trusted`() throws {
        try make("current/Keys/root.cer", "current/Package.swift", "current/share/till/Keys/root.cer")
        for executable in ["usr/bin/till", "opt/till/till"] {
            #expect(installed(executable).keys?.path.hasPrefix(folder.folder("current").path) != true, "\(executable)")
        }
        #expect(installed(nil).keys == nil)
    }

    @Test func `a project's certificates come before those of a prefix`() throws {
        try make("project/Package.swift", "project/share/till/Keys/root.cer")
        #expect(installed("project/bin/till").keys?.path == folder.folder("project/Keys").path)
    }

    @Test func `without any folder there is the program's own catalog`() {
        #expect(installed("usr/bin/till").products == nil)
    }

    /// The file of the copy is in no clone and no package.
    @Test func `a copied program sells the sample catalog, with its pictures`() async throws {
        var till = try TillProcess(hasKeys: false)
        let original = try await till.run("products", "--json")
        till.launcher = ["/bin/sh", "-c", "cp \"$0\" copied-till && exec ./copied-till \"$@\""]
        let copied = try await till.run("products", "--json")
        #expect(copied.status == 0, "\(copied.error)")
        #expect(copied.output == original.output)
        #expect(copied.output.contains("picture"))
    }
}
