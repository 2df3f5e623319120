import ArgumentParser
import Console
import Foundation
import Proofs

struct Doctor: Command {
    static let configuration = CommandConfiguration(
        "doctor", "Check an installation, and name the remedy of each problem.",
        """
        Takes the settings of till serve. It changes no data, and works while the
        service runs. Exit status: 0 if all checks pass, 1 otherwise.
        """,
        examples: """
            till doctor
            till doctor --config till.json --json
            """)

    @OptionGroup var options: ServeOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let findings = await findings()
        for finding in findings {
            let status = finding.state.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            terminal.line("\(status)  \(finding.subject.rawValue): \(finding.detail.english)")
            if let remedy = finding.remedy { terminal.line("         \(remedy.english)") }
        }
        let reports: [Report] = findings.map {
            [
                "check": $0.subject, "status": $0.state, "detail": $0.detail.english, "remedy": $0.remedy?.english,
            ]
        }
        try terminal.json(["findings": reports])
        let problems = findings.count { $0.state == .problem }
        terminal.line(problems == 0 ? "No problems." : "Problems: \(problems).")
        if problems > 0 { throw ExitCode(1) }
    }

    private func findings() async -> [HealthCheck] {
        do {
            return await Examination(try ServeConfiguration(options, common), common: common).findings()
        } catch let error as any CodedError {
            return [.problem(.settings, Phrase(same: error.message))]
        } catch {
            return [.problem(.settings, Phrase(same: "\(error)"))]
        }
    }
}
