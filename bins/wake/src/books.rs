//! What a watch keeps in its folder: state, evidence, history.

use std::{io, path::PathBuf, time::Duration};

use jiff::Timestamp;
use serde_json::Value;
use shared::{clock::Now, exit::Error, reading::Look};

use crate::{
    answers::Answers,
    decide::{Emission, Engine, Ms, State, Verdict},
    evidence::{Evidence, File},
    history::{History, Note, What},
    looks::Looks,
    store::Store,
};

/// The books of one watch.
#[derive(Debug)]
pub struct Books {
    store: Store,
    evidence: Evidence,
    history: History,
}

impl Books {
    /// Opens those of the watch `name`, and recalls its state.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open(folder: PathBuf, name: &str, now: Ms) -> Result<(Self, State), Error> {
        let (store, state) = Store::open(folder, name, now)?;
        let evidence = Evidence::new(store.folder());
        let history = History::new(store.folder());
        Ok((Self { store, evidence, history }, state))
    }

    /// Where they are.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        self.store.folder()
    }

    /// Tries to write there.
    ///
    /// # Errors
    ///
    /// As [`Store::probe`].
    pub fn probe(&self) -> io::Result<()> {
        self.store.probe()
    }

    /// The state has changed.
    pub fn touch(&mut self, now: Duration) {
        self.store.touch(now);
    }

    /// Whether a save is due, the input being drained or not.
    #[must_use]
    pub fn is_due(&self, now: Duration, drained: bool) -> bool {
        self.store.is_due(now, drained)
    }

    /// When a save is due though nothing follows.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.store.due()
    }

    /// Writes the state, with how far the answers were read.
    ///
    /// # Errors
    ///
    /// As [`Store::save`].
    pub fn save(&mut self, engine: &mut Engine, answers: Option<&Answers>) -> io::Result<()> {
        if let Some(answers) = answers {
            engine.set_acks(answers.mark());
        }
        self.store.save(engine.state())
    }

    /// Where the evidence of a claim is.
    #[must_use]
    pub fn evidence_path(&self, claim: &str) -> PathBuf {
        self.evidence.path(claim)
    }

    /// Writes the evidence of a line whose sentence is `text`.
    ///
    /// # Errors
    ///
    /// As [`Evidence::write`].
    pub fn testify(
        &mut self,
        emission: &Emission,
        text: &str,
        at: Timestamp,
        engine: &Engine,
        looks: &Looks,
    ) -> io::Result<()> {
        self.evidence.write(&File::new(emission, text, at.to_string(), engine, looks))
    }

    /// A line was printed: what it says of itself is what there is to note.
    pub fn printed(&mut self, line: &[u8], now: &Now) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return };
        let word = |name: &str| line.get(name).and_then(Value::as_str);
        let what = if word("ends").is_some() { What::Stop } else { What::Wake };
        self.history.append(&Note {
            kind: word("kind"),
            subject: word("subject"),
            decision: word("decision"),
            reason: word("reason"),
            claim: word("claim"),
            ..Note::new(what, now.timestamp().to_string())
        });
    }

    /// A look said something new.
    pub fn observed(&mut self, look: &Look, verdict: &Verdict, now: &Now) {
        self.history.append(&Note {
            kind: Some(&look.kind),
            subject: Some(&look.subject),
            decision: Some(verdict.decision.word()),
            reason: Some(verdict.reason.as_str()),
            fingerprint: Some(&look.fingerprint),
            ..Note::new(What::Observed, now.timestamp().to_string())
        });
    }

    /// Nobody answered a line.
    pub fn unconfirmed(&mut self, claim: &str, now: &Now) {
        let at = now.timestamp().to_string();
        self.history.append(&Note { claim: Some(claim), ..Note::new(What::Unconfirmed, at) });
    }
}
