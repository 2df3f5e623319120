import ArgumentParser
import Console
import Foundation
import Proofs

/// `till doctor`
struct Doctor: Command {
    static let configuration = CommandConfiguration(
        abstract: "Check an installation, and name the remedy of each problem.",
        discussion: """
            Takes the settings of till serve. It changes no data, and works while the
            service runs. Exit status: 0 if all checks pass, 1 otherwise.

            Examples:
              till doctor
              till doctor --config till.json --json
            """)

    /// A finding as JSON. The command line speaks English.
    private struct Answer: Encodable {
        let check: HealthCheck.Subject
        let status: HealthCheck.State
        let detail: String
        let remedy: String?

        init(_ finding: HealthCheck) {
            check = finding.subject
            status = finding.state
            detail = finding.detail.english
            remedy = finding.remedy?.english
        }
    }

    @OptionGroup var options: ServeOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let findings = await findings()
        for finding in findings {
            let status = finding.state.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            terminal.line("\(status)  \(finding.subject.rawValue): \(finding.detail.english)")
            if let remedy = finding.remedy { terminal.line("         \(remedy.english)") }
        }
        try terminal.json(["findings": findings.map { Answer($0) }])
        let problems = findings.count { $0.state == .problem }
        terminal.line(problems == 0 ? "No problems." : "Problems: \(problems).")
        if problems > 0 { throw ExitCode(1) }
    }

    private func findings() async -> [HealthCheck] {
        do {
            let configuration = try ServeConfiguration(
                options, dataPath: common.dataPath, catalogPath: common.catalogPath)
            return await Examination(configuration, common: common).findings()
        } catch let error as any CodedError {
            return [.problem(.settings, Phrase(same: error.message))]
        } catch {
            return [.problem(.settings, Phrase(same: "\(error)"))]
        }
    }
}
