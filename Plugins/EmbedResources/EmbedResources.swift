import Foundation
import PackagePlugin

/// Embeds the files of a target's folders `Resources` in its code, as `PackageResources`.
///
/// SwiftPM's own rule `embedInCode` writes an array literal with a number for each byte. The compiler takes 70 microseconds for
/// each number, and next to nothing for a string literal.
@main struct EmbedResources: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let paths = FileManager.default.subpaths(atPath: target.directoryURL.path) else { return [] }
        let files = paths.filter { $0.split(separator: "/").dropLast().contains("Resources") }.sorted()
            .map { target.directoryURL.appending(path: $0) }.filter { !$0.hasDirectoryPath && $0.pathExtension != "" }
        let output = context.pluginWorkDirectoryURL.appending(path: "PackageResources.swift")
        return [
            .buildCommand(
                displayName: "Embedding the resources of \(target.name)",
                executable: try context.tool(named: "embed-resources").url,
                arguments: [output.path] + files.map(\.path), inputFiles: files, outputFiles: [output])
        ]
    }
}
